# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Long-running operations: what a cloud is still busy with, and what happens when it is done."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from threading import Lock
from uuid import uuid4

from .clock import Clock, Timer


@dataclass(slots=True, kw_only=True)
class Operation:
    """Something that takes time.

    Attributes:
        id: unique.
        kind: `create-cluster`, `update-node-group`, … in the emulator's own words.
        target: what it is about.
        ends_at: when it is done, on the engine's clock.
        done: whether `finish` has run (or the operation was cancelled).
    """

    id: str
    kind: str
    target: str
    ends_at: datetime
    done: bool = False
    timer: Timer | None = field(default=None, repr=False)


class Operations:
    """The operations of one emulator. Thread-safe."""

    def __init__(self, clock: Clock) -> None:
        """Arguments: clock: what they take their time on."""
        self._clock = clock
        self._operations: dict[str, Operation] = {}
        self._lock = Lock()

    def begin(self, *, kind: str, target: str, seconds: float, finish: Callable[[], None]) -> Operation:
        """Start one.

        Arguments:
            kind: what is done, in the emulator's own words.
            target: what it is done to.
            seconds: how long it takes, on the engine's clock.
            finish: called once at its end, in the clock's thread.
        """
        operation = Operation(
            id=str(uuid4()), kind=kind, target=target, ends_at=self._clock.now() + timedelta(seconds=seconds)
        )

        def end() -> None:
            if self._close(operation):
                finish()

        with self._lock:
            self._operations[operation.id] = operation
            operation.timer = self._clock.call_later(seconds, end)
        return operation

    def cancel(self, operation: Operation) -> None:
        """Let it end without its effect; one that is done stays as it is."""
        if self._close(operation) and operation.timer is not None:
            operation.timer.cancel()

    def running(self, target: str | None = None) -> tuple[Operation, ...]:
        """What is still going on, oldest first; all of it or what is done to one target."""
        with self._lock:
            return tuple(o for o in self._operations.values() if target in (None, o.target))

    def _close(self, operation: Operation) -> bool:
        with self._lock:
            if operation.done:
                return False
            operation.done = True
            del self._operations[operation.id]
            return True
