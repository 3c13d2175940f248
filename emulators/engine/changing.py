# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The lock of an emulated service, and what happens once it is released."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import RLock

from .engine import Engine


class Changing:
    """The base of a service's state. Everything in it is read and changed within `changing`."""

    def __init__(self, engine: Engine) -> None:
        """Nobody holds it."""
        self.engine = engine
        self._lock = RLock()
        self._depth = 0
        self._later: list[Callable[[], None]] = []

    @contextmanager
    def changing(self) -> Iterator[None]:
        """Hold the lock; what was put off with `later` runs once it is released, because neighbours may call back."""
        self._lock.acquire()
        self._depth += 1
        later: list[Callable[[], None]] = []
        try:
            yield
        finally:
            self._depth -= 1
            if self._depth == 0:
                later, self._later = self._later, []
            self._lock.release()
        for effect in later:
            effect()

    def later(self, effect: Callable[[], None]) -> None:
        """Put off a call to a neighbour until the lock is released."""
        self._later.append(effect)

    def after(self, seconds: float, *, kind: str, target: str, finish: Callable[[], None]) -> None:
        """Begin a long-running operation whose end changes the state."""

        def end() -> None:
            with self.changing():
                finish()

        self.engine.operations.begin(kind=kind, target=target, seconds=seconds, finish=end)
