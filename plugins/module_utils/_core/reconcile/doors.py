# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a pass needs of the outside."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..model.agent import AgentSettings
from ..model.clock import Clock
from ..model.records import AccountRecord
from ..providers.contract import Driver
from ..store import Store
from .timing import Intervals


@dataclass(frozen=True, slots=True, kw_only=True)
class Doors:
    """The store, the clock, the drivers, and how passes are run.

    Attributes:
        open_driver: gives the driver of an account; raises ProviderError when its credential cannot be had.
        agent: how bcd is run; None when the settings do not say.
        stopping: whether the process was told to end: a pass then stops between two steps.
    """

    store: Store
    clock: Clock
    open_driver: Callable[[AccountRecord], Driver]
    agent: AgentSettings | None
    stopping: Callable[[], bool]
    intervals: Intervals
