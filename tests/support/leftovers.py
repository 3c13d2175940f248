# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a test left running: child processes and threads that would keep the interpreter alive.

Children of children count too, but not processes that were made orphans on purpose. Daemon threads are not
looked at: libraries keep pools of them.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass

import psutil

# A thread that was told to stop may need a moment to get there; one that was not told never will.
GRACE_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class Running:
    """The children (by pid and start time, since pids are used again) and threads that run at one moment."""

    children: frozenset[psutil.Process]
    threads: frozenset[threading.Thread]


def now_running() -> Running:
    """Look at this process's children and non-daemon threads."""
    return Running(
        children=frozenset(psutil.Process().children(recursive=True)),
        threads=frozenset(thread for thread in threading.enumerate() if not thread.daemon),
    )


def left_since(before: Running, *, allowed_pids: Iterable[int] = ()) -> list[str]:
    """Name what runs now and did not before, one line each, and end the processes among it.

    ``allowed_pids`` are processes that may stay, with all their children. Processes are ended so that one test's
    leftovers are not the next one's; a process that ended but was never waited for is a leftover as well.
    """
    deadline = time.monotonic() + GRACE_SECONDS
    for thread in now_running().threads - before.threads:
        thread.join(timeout=max(0.0, deadline - time.monotonic()))
    now = now_running()
    may_stay = _with_descendants(allowed_pids)
    lines = [f"thread {thread.name!r} is still running" for thread in now.threads - before.threads]
    for child in sorted(now.children - before.children, key=lambda process: process.pid):
        if child.pid in may_stay:
            continue
        with contextlib.suppress(psutil.NoSuchProcess):
            state = "was never waited for" if child.status() == psutil.STATUS_ZOMBIE else "is still running"
            lines.append(f"process {child.pid} ({_command(child)}) {state}")
            child.kill()
        with contextlib.suppress(psutil.Error):
            child.wait(timeout=GRACE_SECONDS)
    return lines


def _with_descendants(pids: Iterable[int]) -> set[int]:
    found: set[int] = set()
    for pid in pids:
        found.add(pid)
        with contextlib.suppress(psutil.Error):
            found.update(child.pid for child in psutil.Process(pid).children(recursive=True))
    return found


def _command(process: psutil.Process) -> str:
    with contextlib.suppress(psutil.Error):
        return " ".join(process.cmdline()) or process.name()
    return "gone"
