# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How loud the end of a pass is in the log."""

from __future__ import annotations

import logging

import pytest

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.pass_end import PassEnd, PassOutcome
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.records import Lease
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.telemetry import UNHEARD
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.told_passes import tell_of
from ansible_collections.better_compute.fleet.tests.support.rows import START

LEASE = Lease(unit="pool_01k9abcdefghjkmnpqrstvwxyz", holder="test", fence=1, until=START)

WRONG = {PassOutcome.ERROR, PassOutcome.LEASE_LOST, PassOutcome.STORE_UNAVAILABLE, PassOutcome.FAULT}


def level_of_the_end(end: PassEnd, log: pytest.LogCaptureFixture) -> int:
    log.set_level(logging.DEBUG)
    tell_of(UNHEARD, LEASE, lambda: end)
    [told] = [record for record in log.records if record.getMessage() == "a pass ended"]
    return told.levelno


@pytest.mark.parametrize("changed", [False, True])
@pytest.mark.parametrize("outcome", PassOutcome)
def test_an_end_that_went_wrong_is_a_warning_whether_or_not_anything_changed(
    outcome: PassOutcome, changed: bool, caplog: pytest.LogCaptureFixture
) -> None:
    quiet = logging.INFO if changed else logging.DEBUG
    expected = logging.WARNING if outcome in WRONG else quiet
    assert level_of_the_end(PassEnd(outcome=outcome, changed=changed), caplog) == expected
