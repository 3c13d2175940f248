# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a test left running: child processes and threads that would keep the interpreter alive.

Direct children are looked at, and ended with all their own; processes that were made orphans on purpose are not seen.
Daemon threads are not looked at: libraries keep pools of them.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import psutil

# A thread that was told to stop may need a moment to get there; one that was not told never will.
GRACE_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class Running:
    """The direct children and the non-daemon threads that run at one moment."""

    children: frozenset[int]
    threads: frozenset[threading.Thread]


def now_running() -> Running:
    """Look at this process's direct children and non-daemon threads."""
    return Running(
        children=_direct_children(),
        threads=frozenset(thread for thread in threading.enumerate() if not thread.daemon),
    )


def left_since(before: Running, *, allowed_pids: Iterable[int] = ()) -> list[str]:
    """Name what runs now and did not before, one line each, and end the processes among it.

    ``allowed_pids`` are children that may stay. Processes are ended so that one test's leftovers are not the next
    one's; a process that ended but was never waited for is a leftover as well.
    """
    deadline = time.monotonic() + GRACE_SECONDS
    for thread in now_running().threads - before.threads:
        thread.join(timeout=max(0.0, deadline - time.monotonic()))
    now = now_running()
    lines = [f"thread {thread.name!r} is still running" for thread in now.threads - before.threads]
    for pid in sorted(now.children - before.children - frozenset(allowed_pids)):
        with contextlib.suppress(psutil.NoSuchProcess):
            lines.append(_end(psutil.Process(pid)))
    return lines


def _direct_children() -> frozenset[int]:
    """Return the pids of our children, unwaited-for ones included.

    Asked twice for each test, so it asks the kernel for the one list where it can (Linux: 0.1 ms), and only
    elsewhere goes through every process of the machine.
    """
    try:
        listed = [task.joinpath("children").read_text() for task in Path("/proc/self/task").iterdir()]
    except OSError:
        return frozenset(child.pid for child in psutil.Process().children())
    return frozenset(int(pid) for pids in listed for pid in pids.split())


def _end(process: psutil.Process) -> str:
    """End a child with all its own, and tell what it was."""
    state = "was never waited for" if process.status() == psutil.STATUS_ZOMBIE else "is still running"
    line = f"process {process.pid} ({_command(process)}) {state}"
    family = [*process.children(recursive=True), process]
    for member in family:
        with contextlib.suppress(psutil.Error):
            member.kill()
    psutil.wait_procs(family, timeout=GRACE_SECONDS)
    return line


def _command(process: psutil.Process) -> str:
    with contextlib.suppress(psutil.Error):
        return " ".join(process.cmdline()) or process.name()
    return "gone"
