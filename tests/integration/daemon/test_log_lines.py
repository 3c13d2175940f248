# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whose line is whose, where several passes run at once."""

from __future__ import annotations

import logging
import threading
from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace

import pytest

from ansible_collections.better_compute.fleet.daemon.logs import Logfmt, carry_pass
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.records import (
    AccountRecord,
    Lease,
    PoolRecord,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.telemetry import (
    UNHEARD,
    current_pass_of,
    telling,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.passes import run_once
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.session import Session
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.contract import Driver
from ansible_collections.better_compute.fleet.tests.support.rows import START

_LIBRARY = logging.getLogger("botocore.auth")


@pytest.fixture
def lines(caplog: pytest.LogCaptureFixture) -> Callable[[], dict[int | None, list[str]]]:
    """What each thread has logged, as the daemon writes it."""
    caplog.set_level(logging.DEBUG)
    caplog.handler.addFilter(carry_pass)

    def of_threads() -> dict[int | None, list[str]]:
        found = defaultdict(list)
        for record in caplog.records:
            found[record.thread].append(Logfmt(traces=False).format(record))
        return found

    return of_threads


def test_each_line_of_two_passes_at_once_carries_its_own_pool_and_pass(
    session: Session,
    due_pools: Callable[[int], list[PoolRecord]],
    lines: Callable[[], dict[int | None, list[str]]],
) -> None:
    both = threading.Barrier(2)

    def chatty(_account: AccountRecord) -> Driver:
        both.wait(30)
        _LIBRARY.warning("a library speaks")
        both.wait(30)
        raise RuntimeError("the provider's door is jammed")

    pools = due_pools(2)
    with pytest.raises(RuntimeError):
        run_once(replace(session, open_driver=chatty), [pool.id for pool in pools])
    of_passes = [told for told in lines().values() if any("a library speaks" in line for line in told)]
    assert len(of_passes) == 2
    for pool in pools:
        [told] = [told for told in of_passes if any(f'event="{pool.id}: the pass failed"' in line for line in told)]
        own = [line for line in told if f" pool={pool.id} pass={pool.id[-8:]}-1" in line]
        events = [line.partition(' event="')[2].partition('"')[0] for line in own]
        assert events == ["a pass begins", "a library speaks", f"{pool.id}: the pass failed", "a pass ended"]
        assert "outcome=fault" in own[-1]


def test_a_cluster_without_a_pool_is_named_as_a_unit(lines: Callable[[], dict[int | None, list[str]]]) -> None:
    lease = Lease(unit="kcl_01k9abcdefghjkmnpqrstvwxyz", holder="test", fence=12, until=START)
    with telling(UNHEARD, current=current_pass_of(lease)):
        _LIBRARY.warning("within")
    _LIBRARY.warning("outside")
    [[within, outside]] = lines().values()
    assert within.endswith("event=within unit=kcl_01k9abcdefghjkmnpqrstvwxyz pass=rstvwxyz-12")
    assert outside.endswith("event=outside")
