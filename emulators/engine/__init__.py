# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What all emulators share: a clock, long-running operations, an inventory, a request log and scripted faults.

`Engine` ties them together; every request that an emulator answers goes through `Engine.handle`.
"""

from __future__ import annotations

from .answers import Answer, Call, InjectedError, ReplyLost
from .changing import Changing
from .clock import Clock, RealClock, Timer
from .delays import PATIENCE, Delays
from .engine import Engine
from .faults import Delay, Error, FaultScript, Hook, LostReply
from .inventory import Inventory, Item
from .operations import Operation, Operations
from .request_log import Entry, RequestLog
from .serving import Serving
from .virtual_clock import VirtualClock

__all__ = [
    "PATIENCE",
    "Answer",
    "Call",
    "Changing",
    "Clock",
    "Delay",
    "Delays",
    "Engine",
    "Entry",
    "Error",
    "FaultScript",
    "Hook",
    "InjectedError",
    "Inventory",
    "Item",
    "LostReply",
    "Operation",
    "Operations",
    "RealClock",
    "ReplyLost",
    "RequestLog",
    "Serving",
    "Timer",
    "VirtualClock",
]
