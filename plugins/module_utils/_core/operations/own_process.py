# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a process of ours sets for itself, once and first. Not for code that runs in somebody else's process."""

from __future__ import annotations

import atexit
import gc
import os

_CONTAINERS = 100_000
"""That are made between two looks, instead of CPython's 700.

To plan is to make very many values that all stay, and each look goes over them again: a tenth of the processor time of
a plan of 1,000 pools. Cycles are few here (exceptions, sessions), and this many containers are some 10 MB at most.
"""

_PYDANTIC_PLUGINS = "PYDANTIC_DISABLE_PLUGINS"
"""Source: pydantic, "Plugins": it looks for them in the metadata of every package that is installed."""


def begin_process() -> None:
    """Look for garbage in cycles rarely, and have no stranger's plugin at work. What is in no cycle goes at once.

    At the end of the process nothing is looked for: CPython would go through everything that is loaded once more, a
    thirtieth of what a plan takes. A plugin of pydantic's would be given the documents that are checked; and to find
    that there is none takes longer than to check a document.
    """
    _first, second, third = gc.get_threshold()
    gc.set_threshold(_CONTAINERS, second, third)
    atexit.unregister(gc.freeze)
    atexit.register(gc.freeze)
    os.environ.setdefault(_PYDANTIC_PLUGINS, "__all__")
