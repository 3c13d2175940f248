# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How often a process of ours looks for garbage in cycles: a policy of the process, which its first line sets."""

from __future__ import annotations

import gc

_CONTAINERS = 100_000
"""That are made between two looks, instead of CPython's 700.

To plan is to make very many values that all stay, and each look goes over them again: a tenth of the processor time of
a plan of 1,000 pools. Cycles are few here (exceptions, sessions), and this many containers are some 10 MB at most.
"""


def collect_rarely() -> None:
    """Look for garbage in cycles once in 100,000 new containers. What is in no cycle goes at once, as ever."""
    _first, second, third = gc.get_threshold()
    gc.set_threshold(_CONTAINERS, second, third)
