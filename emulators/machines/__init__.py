# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Emulated machines: each registers its Node, runs the DaemonSets that select it like a kubelet, and so the real bcd.

All machines of a world are coroutines in one event loop in one thread; what they wait with is the engine's clock. The
only image they know is bcd's, and it is this checkout's code, with made-up GPUs.
"""

from __future__ import annotations

from .errors import NoSuchMachine
from .machine import MachineTimes
from .machine_host import EmulatedMachines

__all__ = ["EmulatedMachines", "MachineTimes", "NoSuchMachine"]
