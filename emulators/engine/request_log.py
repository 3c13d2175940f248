# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every request that the emulators answered, in order: so that tests can say "zero writes" and "three reads"."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import datetime
from fnmatch import fnmatchcase
from threading import Lock

from .answers import Call

CONNECTION_LOST = 0
"""The status noted when the caller got no answer at all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One answered request.

    Attributes:
        sequence: its number, from 1, in the order in which the answers were ready.
        status: the HTTP status of the effect, or of the error that stood in its way; see also `lost`.
        lost: whether the answer was kept from the caller.
        at: the engine's time.
    """

    sequence: int
    call: Call
    status: int
    lost: bool
    at: datetime


class RequestLog:
    """The log. Thread-safe; holds calls and statuses, never headers or bodies, so it holds no secret."""

    def __init__(self) -> None:
        """An empty log."""
        self._entries: list[Entry] = []
        self._lock = Lock()

    def note(self, call: Call, *, status: int, at: datetime, lost: bool = False) -> None:
        """Append one answered request."""
        with self._lock:
            sequence = len(self._entries) + 1
            self._entries.append(Entry(sequence=sequence, call=call, status=status, lost=lost, at=at))

    @property
    def mark(self) -> int:
        """The number of the last entry, to be given to `entries` as `after`."""
        with self._lock:
            return len(self._entries)

    def entries(
        self, *, after: int = 0, cloud: str | None = None, name: str = "*", mutating: bool | None = None
    ) -> tuple[Entry, ...]:
        """The entries in order.

        Arguments:
            after: only those with a higher sequence number.
            cloud: only this cloud's.
            name: only calls whose name matches this pattern (fnmatch).
            mutating: only those that (do not) change something.
        """
        with self._lock:
            entries = self._entries[after:]
        return tuple(
            entry
            for entry in entries
            if cloud in (None, entry.call.cloud)
            and fnmatchcase(entry.call.name, name)
            and mutating in (None, entry.call.mutating)
        )

    def counts(self, *, after: int = 0) -> dict[str, int]:
        """How often each call was made, by `<cloud> <name>`, in the order of the names."""
        counter = Counter(f"{entry.call.cloud} {entry.call.name}" for entry in self.entries(after=after))
        return dict(sorted(counter.items()))

    def writes(self, *, after: int = 0) -> tuple[Entry, ...]:
        """The mutating calls that the emulators carried out (status below 400)."""
        mutating = self.entries(after=after, mutating=True)
        return tuple(entry for entry in mutating if CONNECTION_LOST < entry.status < 400)
