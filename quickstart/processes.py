# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ending what was started: an interrupt that never gets between a process's start and its entry in our list, and the
processes that were started by what we started, because Ansible's workers and modules have sessions of their own.

The latter on Linux only; elsewhere none are found, and none waited for.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path


class Interrupts:
    """SIGINT and SIGTERM as KeyboardInterrupt, at once or at the end of a `held` block. For the main thread."""

    def __init__(self) -> None:
        """Take the two signals over."""
        self._is_held = False
        self._came = False
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._interrupt)

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """Let an interrupt wait for the end of the block: a process that has just been started is never lost."""
        self._is_held = True
        try:
            yield
        finally:
            self._is_held = False
        if self._came:
            self._came = False
            raise KeyboardInterrupt

    def _interrupt(self, _number: int, _frame: object) -> None:
        if not self._is_held:
            raise KeyboardInterrupt
        self._came = True


def descendants(pid: int) -> tuple[int, ...]:
    """Handles (pidfds) on the processes that a process started, and on theirs. They keep naming the same processes."""
    handles: list[int] = []
    if sys.platform == "linux":
        for children in Path(f"/proc/{pid}/task").glob("*/children"):
            with contextlib.suppress(OSError):  # it has ended meanwhile
                for child in children.read_text(encoding="ascii").split():
                    handles.append(os.pidfd_open(int(child)))
                    handles += descendants(int(child))
    return tuple(handles)


def await_ends(handles: tuple[int, ...], *, seconds: float) -> None:
    """Wait until the processes have ended by themselves, and kill those that have not in time. Closes the handles."""
    until = time.monotonic() + seconds
    for handle in handles:
        ended, _, _ = select.select([handle], [], [], max(0.0, until - time.monotonic()))
        if not ended and sys.platform == "linux":
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(handle, signal.SIGKILL)
            select.select([handle], [], [], seconds)
        os.close(handle)
