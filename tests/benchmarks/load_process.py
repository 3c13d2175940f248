# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The load as a process of its own: machines that join and send heartbeats at a given rate, whatever the answers take.

Reads one JSON line for each phase and answers it with one: see :class:`Phase` and :class:`Measured`. Calls are made at
random moments that are fixed beforehand (a Poisson process), and each one's time counts from that moment to its reply:
a gateway that stalls is charged for all that should have been sent meanwhile.
"""

from __future__ import annotations

import asyncio
import json
import random
import resource
import sys
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from itertools import cycle
from typing import Any, Final

from .load_machine import CallFailed, Gateway, Machine

_SEED: Final = 6
_PATIENCE_SECONDS: Final = 90
"""For the last replies of a phase: more than any may take."""

_LONG_PATIENCE_SECONDS: Final = 600
"""For machines that come again until they have joined."""

_AGAIN_SECONDS: Final = 1.0

_BEAT_SECONDS: Final = 10.0

_POLL_SECONDS: Final = 30
"""As bcd waits for its bookings."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Phase:
    """What to do for a while.

    Attributes:
        gateway: its port and its pin.
        seconds: how long heartbeats are sent; joins end when every machine has joined.
        joins: of new machines: the token of each one's pool, and its name.
        joins_per_second: how many of them begin.
        heartbeats_per_second: of all machines that have joined, each in its turn.
        patient: whether a machine whose join fails tries again in a second, as bcd does.
        lively: whether the machines that join do from then on as bcd does: wait for their bookings, and send a
            heartbeat every ten seconds, which is measured whatever the phase.
    """

    gateway: Gateway
    seconds: float = 0.0
    joins: tuple[tuple[str, str], ...] = ()
    joins_per_second: float = 0.0
    heartbeats_per_second: float = 0.0
    patient: bool = False
    lively: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What came of it.

    Attributes:
        joins, heartbeats: seconds from the moment at which each should have begun to its reply.
        late: seconds by which this process itself was late to send them.
        failed: how many calls failed, by what was said.
        processor_seconds: of this process.
    """

    joins: list[float] = field(default_factory=list)
    heartbeats: list[float] = field(default_factory=list)
    late: list[float] = field(default_factory=list)
    failed: dict[str, int] = field(default_factory=dict)
    processor_seconds: float = 0.0


class Load:
    """All machines."""

    def __init__(self) -> None:
        """There is none yet."""
        self._joined: list[Machine] = []
        self._chance = random.Random(_SEED)
        self._lives: list[asyncio.Task[None]] = []
        self._measured, self._failed = Measured(), Counter[str]()

    async def run(self, phase: Phase) -> Measured:
        """Do it."""
        measured, failed = self._measured, self._failed = Measured(), Counter[str]()
        began = resource.getrusage(resource.RUSAGE_SELF)
        machines = [(token, Machine(gateway=phase.gateway, name=name)) for token, name in phase.joins]
        beating = cycle(list(self._joined)) if self._joined else None
        patience = phase.seconds + len(machines) / (phase.joins_per_second or 1)
        patience += _LONG_PATIENCE_SECONDS if phase.patient else _PATIENCE_SECONDS
        with suppress(TimeoutError):
            async with asyncio.timeout(patience), asyncio.TaskGroup() as tasks:
                joins = (self._join(machine, token, phase) for token, machine in machines)
                moments = self._moments(phase.joins_per_second)
                tasks.create_task(asyncio.sleep(phase.seconds))
                tasks.create_task(send(joins, moments, measured.joins, measured.late, failed, tasks))
                if beating is not None and phase.heartbeats_per_second:
                    beats = (lambda one=machine: one.beat() for machine in beating)
                    within = self._moments(phase.heartbeats_per_second, until=phase.seconds)
                    tasks.create_task(send(beats, within, measured.heartbeats, measured.late, failed, tasks))
        ended = resource.getrusage(resource.RUSAGE_SELF)
        spent = ended.ru_utime + ended.ru_stime - began.ru_utime - began.ru_stime
        measured.failed.update(failed)
        return Measured(**{**asdict(measured), "processor_seconds": spent})

    def end(self) -> None:
        """Be gone, all at once."""
        for life in self._lives:
            life.cancel()
        for machine in self._joined:
            machine.end()

    def _join(self, machine: Machine, token: str, phase: Phase) -> Callable[[], Awaitable[object]]:
        async def join() -> None:
            while True:
                try:
                    await machine.join(token)
                    break
                except CallFailed:
                    if not phase.patient:
                        raise
                    await asyncio.sleep(_AGAIN_SECONDS)
            self._joined.append(machine)
            if phase.lively:
                self._lives += [asyncio.create_task(live) for live in (self._poll(machine), self._beat(machine))]

        return join

    async def _poll(self, machine: Machine) -> None:
        version = ""
        while True:
            try:
                version = await machine.poll(version, wait_seconds=_POLL_SECONDS)
            except CallFailed as error:
                self._failed[str(error)] += 1
                await asyncio.sleep(_AGAIN_SECONDS)

    async def _beat(self, machine: Machine) -> None:
        loop = asyncio.get_running_loop()
        due = loop.time()
        while True:
            due += _BEAT_SECONDS
            await asyncio.sleep(due - loop.time())
            self._measured.late.append(loop.time() - due)
            try:
                await machine.beat()
            except CallFailed as error:
                self._failed[str(error)] += 1
            else:
                self._measured.heartbeats.append(loop.time() - due)

    def _moments(self, per_second: float, *, until: float | None = None) -> Iterator[float]:
        """Seconds from the beginning at which something is to be sent."""
        moment = 0.0
        while per_second:
            moment += self._chance.expovariate(per_second)
            if until is not None and moment > until:
                return
            yield moment


async def send(
    calls: Iterator[Callable[[], Awaitable[object]]],
    moments: Iterator[float],
    taken: list[float],
    late: list[float],
    failed: Counter[str],
    tasks: asyncio.TaskGroup,
) -> None:
    """Begin each call at its moment, and wait for none of them."""
    loop = asyncio.get_running_loop()
    began = loop.time()

    async def measure(call: Callable[[], Awaitable[object]], due: float) -> None:
        late.append(loop.time() - due)
        try:
            await call()
        except CallFailed as error:
            failed[str(error)] += 1
        except asyncio.CancelledError:
            failed["no answer"] += 1
            raise
        else:
            taken.append(loop.time() - due)

    for moment, call in zip(moments, calls, strict=False):
        await asyncio.sleep(began + moment - loop.time())
        tasks.create_task(measure(call, began + moment))


def phase_of(told: Mapping[str, Any]) -> Phase:
    """The phase of a line."""
    joins = tuple((token, name) for token, name in told["joins"])
    return Phase(**{**told, "gateway": Gateway(**told["gateway"]), "joins": joins})


def quantile(values: Sequence[float], share: float) -> float:
    """The smallest value that this share of them does not exceed; 0 when there are none."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else 0.0


def milliseconds(seconds: Sequence[float]) -> str:
    """Their p50 and p99, to be read."""
    return f"{1000 * quantile(seconds, 0.5):.0f} and {1000 * quantile(seconds, 0.99):.0f} ms"


async def _serve() -> None:
    load = Load()
    lines = asyncio.StreamReader(limit=2**26)
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
    try:
        while line := await lines.readline():
            measured = await load.run(phase_of(json.loads(line)))
            sys.stdout.write(json.dumps(asdict(measured)) + "\n")
            sys.stdout.flush()
    finally:
        load.end()


if __name__ == "__main__":
    _soft, _hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (_hard, _hard))
    asyncio.run(_serve())
