# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How often an address may show a credential that is none."""

from __future__ import annotations

import pytest

from ansible_collections.better_compute.fleet.daemon.web import bad_tokens
from ansible_collections.better_compute.fleet.daemon.web.bad_tokens import MOST_IN_WINDOW, BadTokens
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.secret import Secret
from ansible_collections.better_compute.fleet.tests.support.rows import HandClock

GUESS, GOOD = Secret("a guess"), Secret("a good one")


def flooded(clock: HandClock, address: str = "192.0.2.1") -> BadTokens:
    seen = BadTokens()
    for _ in range(MOST_IN_WINDOW):
        assert not seen.must_wait(address, GUESS, now=clock.now())
        seen.bad(address, GUESS, now=clock.now())
    return seen


def test_an_address_with_too_many_has_to_wait_a_minute() -> None:
    clock = HandClock()
    seen = flooded(clock)
    assert seen.must_wait("192.0.2.1", GUESS, now=clock.now())
    clock.advance(seconds=59)
    assert seen.must_wait("192.0.2.1", GUESS, now=clock.now())
    clock.advance(seconds=1)
    assert not seen.must_wait("192.0.2.1", GUESS, now=clock.now())


def test_other_addresses_are_not_concerned() -> None:
    clock = HandClock()
    assert not flooded(clock).must_wait("192.0.2.2", GUESS, now=clock.now())


def test_a_credential_that_was_good_is_always_looked_at() -> None:
    clock = HandClock()
    seen = flooded(clock)
    seen.good(GOOD)
    assert not seen.must_wait("192.0.2.1", GOOD, now=clock.now())
    assert seen.must_wait("192.0.2.1", GUESS, now=clock.now())


def test_one_that_is_good_no_longer_is_one_of_the_bad() -> None:
    clock = HandClock()
    seen = flooded(clock)
    seen.good(GOOD)
    seen.bad("192.0.2.1", GOOD, now=clock.now())
    assert seen.must_wait("192.0.2.1", GOOD, now=clock.now())


def test_a_flood_from_many_addresses_forgets_the_longest_silent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bad_tokens, "_MOST_ADDRESSES", 2)
    clock = HandClock()
    seen = flooded(clock)
    for address in ("192.0.2.2", "192.0.2.3"):
        seen.bad(address, GUESS, now=clock.now())
    assert not seen.must_wait("192.0.2.1", GUESS, now=clock.now())


def test_so_many_good_ones_forget_the_longest_unused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bad_tokens, "_MOST_GOOD", 2)
    clock = HandClock()
    seen = flooded(clock)
    for credential in (GOOD, Secret("2"), GOOD, Secret("3")):
        seen.good(credential)
    assert not seen.must_wait("192.0.2.1", GOOD, now=clock.now())
    assert seen.must_wait("192.0.2.1", Secret("2"), now=clock.now())
