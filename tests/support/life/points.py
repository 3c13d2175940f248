# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a process can be killed: at each call to a provider or a cluster, and at each commit, before or after it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock
from typing import Final, Literal, TypeAlias

Side: TypeAlias = Literal["before", "after"]

COMMIT: Final = "commit"
"""The kind of a point at a commit; the others are the emulators' clouds."""

_IDS: Final = re.compile(r"[0-7][0-9a-hjkmnp-tv-z]{25}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
"""Ours (ULIDs) and EKS's (UUIDs): they differ from life to life."""


def nameless(text: str) -> str:
    """A text without the ids in it, so that it is the same in every life."""
    return _IDS.sub("*", text)


@dataclass(frozen=True, slots=True, order=True, kw_only=True)
class Point:
    """One moment in the life of a process.

    Attributes:
        phase: what the process was started for.
        kind: `aws`, `kubernetes` or `commit`.
        name: the call and what it is about, or the function that commits.
        nth: the how manieth of this name in the process's life, from 1.
        side: before it, or after its effect and before the process hears of it.
    """

    phase: str
    kind: str
    name: str
    nth: int
    side: Side

    def __str__(self) -> str:
        return f"{self.phase}: {self.side} {self.kind} {self.name} #{self.nth}"


Strike: TypeAlias = Callable[[Point], bool]
"""Whether the process is to be killed at this point."""


class Passage:
    """The points that one process comes through, in order. Thread-safe."""

    def __init__(self, *, phase: str, strike: Strike) -> None:
        """Arguments: strike: asked at each point until it says yes, once at most."""
        self._phase = phase
        self._strike = strike
        self._counts: Counter[tuple[str, str]] = Counter()
        self._lock = Lock()
        self.reached: list[Point] = []
        self.struck: Point | None = None

    def at(self, *, kind: str, name: str, side: Side) -> bool:
        """The process has come here. Whether it is to be killed; one that was told so gets no further."""
        name = nameless(name)
        with self._lock:
            if self.struck is not None:
                return True
            if side == "before":
                self._counts[kind, name] += 1
            point = Point(phase=self._phase, kind=kind, name=name, nth=self._counts[kind, name], side=side)
            self.reached.append(point)
            if self._strike(point):
                self.struck = point
            return self.struck is not None
