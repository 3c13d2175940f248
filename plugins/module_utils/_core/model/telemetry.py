# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who is told what the process does outside of its records: a protocol, and whoever listens in this thread's context.

What calls providers and clusters lies deep below whoever runs passes, in objects that are made anew for each. So the
listener is in the context of the thread, with the pass that the thread runs: log lines of libraries find that too.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Protocol

from .ids import is_cluster_id
from .pass_end import PassEnd
from .records import Lease

_SHORT_CHARACTERS = 8
"""Of a unit's id in a pass's: 40 random bits tell the units of any fleet apart."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CurrentPass:
    """The pass that a thread runs.

    Attributes:
        unit: the pool's id, or that of the cluster without a pool.
        id: the end of the unit's id and the lease's fence, which only grows: no two passes have the same.
    """

    unit: str
    id: str

    @property
    def of_cluster(self) -> bool:
        """Whether it is a pass over a cluster without a pool."""
        return is_cluster_id(self.unit)

    @property
    def log_fields(self) -> dict[str, str]:
        """What a log line of the pass carries: `unit` stands for what is no pool."""
        return {"unit" if self.of_cluster else "pool": self.unit, "pass": self.id}


def current_pass_of(lease: Lease) -> CurrentPass:
    """The pass that is run under a lease."""
    return CurrentPass(unit=lease.unit, id=f"{lease.unit[-_SHORT_CHARACTERS:]}-{lease.fence}")


class Telemetry(Protocol):
    """Is told what happens, by many threads at once: it must be quick, and raises nothing."""

    def pass_began(self, current: CurrentPass) -> None:
        """A pass begins."""

    def pass_ended(self, current: CurrentPass, end: PassEnd, *, seconds: float) -> None:
        """It ended, so many seconds of real time later."""

    def provider_called(self, *, provider: str, call: str, error: str, seconds: float) -> None:
        """One API call was sent to a provider; each of several tries is told.

        Arguments:
            provider: as accounts spell it, e.g. `aws`.
            call: the SDK's name for it, e.g. `describe_cluster`.
            error: the ProviderError's type, e.g. `Throttled`; empty when it was answered.
        """

    def cluster_called(self, *, method: str, error: str, seconds: float) -> None:
        """One request was sent to a cluster's Kubernetes API.

        Arguments:
            method: HTTP's.
            error: the ClusterError's type; empty when it was answered.
        """


class Unheard:
    """Nobody listens: in modules, and wherever nobody asked for it."""

    def pass_began(self, current: CurrentPass) -> None:
        """Nothing is kept."""

    def pass_ended(self, current: CurrentPass, end: PassEnd, *, seconds: float) -> None:
        """Nothing is kept."""

    def provider_called(self, *, provider: str, call: str, error: str, seconds: float) -> None:
        """Nothing is kept."""

    def cluster_called(self, *, method: str, error: str, seconds: float) -> None:
        """Nothing is kept."""


UNHEARD: Telemetry = Unheard()

_LISTENING: ContextVar[Telemetry] = ContextVar("listening", default=UNHEARD)
_PASS: ContextVar[CurrentPass | None] = ContextVar("pass", default=None)


def telemetry() -> Telemetry:
    """Who is to be told of what this thread does."""
    return _LISTENING.get()


def current_pass() -> CurrentPass | None:
    """The pass that this thread runs; None outside of one."""
    return _PASS.get()


@contextmanager
def telling(listener: Telemetry, *, current: CurrentPass | None = None) -> Iterator[None]:
    """Have what this thread does within the block told to a listener, as part of a pass if there is one."""
    before = _LISTENING.set(listener), _PASS.set(current)
    try:
        yield
    finally:
        _LISTENING.reset(before[0])
        _PASS.reset(before[1])
