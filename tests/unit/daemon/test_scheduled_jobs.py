# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the daemon's scheduler is given to do, and how often."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, ClassVar
from unittest.mock import Mock

import pytest

from ansible_collections.better_compute.fleet.daemon.service import running
from ansible_collections.better_compute.fleet.daemon.service.housekeeping import FIRST_SECONDS


class Jobs:
    """A scheduler that only remembers."""

    added: ClassVar[dict[str, tuple[Any, dict[str, Any]]]] = {}

    def __init__(self, **_options: Any) -> None:
        self.added.clear()

    def add_job(self, does: Any, _trigger: str, *, id: str, **when: Any) -> None:  # noqa: A002 -- APScheduler's word
        self.added[id] = (does, when)

    def start(self) -> None:
        """Nothing runs."""

    def shutdown(self) -> None:
        """Nothing ran."""


def test_house_is_kept_a_minute_after_the_start_and_every_hour_from_then_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "BackgroundScheduler", Jobs)
    tidy = Mock()
    begun = datetime.now(UTC)
    with running._ticking(Mock(), Mock(), tidy, Mock()):
        does, when = Jobs.added["housekeeping"]
    assert does is tidy
    assert when["seconds"] == 3600
    assert FIRST_SECONDS - 1 <= (when["next_run_time"] - begun).total_seconds() <= FIRST_SECONDS + 30
    assert set(Jobs.added) == {"dispatch", "heartbeats", "alive", "housekeeping"}
