# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""daemon.*: one `bc-fleetd run` that holds 100 substrates and 5,000 Nodes: its memory, and how late due passes begin.

The emulated AWS and its clusters are a process of their own (many_nodes_world.py); 200 Nodes are machines with the real
bcd, the others are played by the load (load_process.py): heartbeats every ten seconds, and a long poll each.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Final

from ansible_collections.better_compute.fleet.plugins.module_utils._core.documents.load import parse_document
from ansible_collections.better_compute.fleet.plugins.module_utils._core.documents.settings import load_settings
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations import fleet
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.session import open_session
from ansible_collections.better_compute.fleet.tests.support.daemon_process import COMMAND, environment_for

from .daemon_records import Records, records
from .documents import pools_with_nodes
from .item import Bar, Item
from .load_and_daemon import Daemon, Load, running_daemon, running_load
from .load_process import Phase, milliseconds, quantile
from .product import AGENT
from .timing import Failed, run_process

LAG: Final = Item(name="daemon.due_lag", unit="s", side=Bar.AT_MOST, bar=5.0)
MEMORY: Final = Item(name="daemon.memory", unit="MB", side=Bar.AT_MOST, bar=1000.0)
POOL_MEMORY: Final = Item(name="daemon.pool_memory", unit="KiB", side=Bar.AT_MOST, bar=4096.0)
ITEMS: Final = (POOL_MEMORY, LAG, MEMORY)

_PACKAGE: Final = "ansible_collections.better_compute.fleet"
_POOLS: Final = 100
_NODES_A_ZONE: Final = 25
_ZONES: Final = 2
_NODES: Final = _POOLS * _NODES_A_ZONE * _ZONES
_REAL_CLUSTERS: Final = 4
_REAL: Final = _REAL_CLUSTERS * _NODES_A_ZONE * _ZONES
"""Nodes whose machine runs the real bcd."""

_JOINS_PER_SECOND: Final = 50
_SECONDS: Final = 90
"""A pass a minute for each pool, and some more of them: what fell due meanwhile has been passed over then."""

_SETTLED_SECONDS: Final = 60
"""A fifth of the default, so that each pool's pass is among what is measured."""

_PATIENCE_SECONDS: Final = 420
_SHARE: Final = 0.95
_GOODBYE_SECONDS: Final = 30


def measure(_folder: Path) -> Iterator[Item]:
    """Converge the pools, have all machines join, then watch for a minute and a half."""
    with tempfile.TemporaryDirectory(prefix="bc-bench-") as made, _running_world(Path(made) / "world.log") as world:
        folder = Path(made)
        environment = _environment(folder, world)
        _apply(environment)
        with (
            running_daemon(environment, log=folder / "daemon.log") as daemon,
            running_load(environment) as load,
            records(environment["BC_FLEET_STORE_DATABASE_URL"]) as kept,
        ):
            yield from _measure(world, daemon, load, kept)


def _measure(world: _World, daemon: Daemon, load: Load, kept: Records) -> tuple[Item, ...]:
    empty = daemon.resident_bytes()
    began = time.monotonic()
    _wait("ready pools", kept.ready, _POOLS)
    _wait("joined machines with the real bcd", kept.joined, _REAL)
    converged, setting_up = daemon.resident_bytes(), time.monotonic() - began
    _wait("uses of the tokens that are left", kept.places, _NODES - _REAL)
    phase = Phase(
        gateway=daemon.gateway, joins=world.joins(), joins_per_second=_JOINS_PER_SECOND, patient=True, lively=True
    )
    if len(phase.joins) != _NODES - _REAL or not all(token for token, _name in phase.joins):
        raise Failed(f"{len(phase.joins)} Nodes wait for their machine, some of them without a token")
    joined = load.run(phase)
    if len(joined.joins) != len(phase.joins):
        raise Failed(f"{len(joined.joins)} of {len(phase.joins)} machines joined: {joined.failed}")
    _wait("joined machines in the records of passes", kept.counted, _NODES)
    spent = daemon.processor_seconds()
    with kept.watching() as lags:
        measured = load.run(replace(phase, joins=(), seconds=_SECONDS))
    share = (daemon.processor_seconds() - spent) / _SECONDS
    problems = [f"calls failed: {measured.failed}"] if measured.failed else []
    standing = (kept.ready(), kept.joined(), kept.counted())
    if standing != (_POOLS, _NODES, _NODES):
        problems.append(f"pools ready, machines joined, machines counted: {standing}")
    if len(lags) < _POOLS:
        problems.append(f"{len(lags)} passes only were seen to begin")
    held = daemon.resident_bytes()
    return (
        replace(
            POOL_MEMORY,
            value=(converged - empty) / _POOLS / 1024,
            note=f"more memory for each of {_POOLS} converged pools; they took {setting_up:.0f} s",
        ),
        replace(
            LAG,
            value=quantile(lags, _SHARE),
            wrong="; ".join(problems),
            note=f"{len(lags)} passes, p50 {quantile(lags, 0.5):.2f} s, the latest {max(lags, default=0):.2f} s late; "
            f"{len(measured.heartbeats):,} heartbeats p50 and p99 {milliseconds(measured.heartbeats)}, before them "
            f"{len(joined.joins):,} joins {milliseconds(joined.joins)}; processor time of the daemon {share:.2f} of a "
            f"core; load average {os.getloadavg()[0]:.1f}",
        ),
        replace(
            MEMORY,
            value=held / 1_000_000,
            note=f"{_POOLS} substrates and {_NODES:,} Nodes, each with a heartbeat's connection and a long poll's",
        ),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _World:
    """The emulated AWS.

    Attributes:
        environment: what its client is to have in its environment.
    """

    environment: Mapping[str, str]
    sent: IO[str]
    told: IO[str]

    def joins(self) -> tuple[tuple[str, str], ...]:
        """The join token and the name of each Node without a machine."""
        self.sent.write("\n")
        self.sent.flush()
        return tuple((each["token"], name) for each in json.loads(self.told.readline()) for name in each["nodes"])


@contextmanager
def _running_world(log: Path) -> Iterator[_World]:
    command = [sys.executable, "-m", f"{_PACKAGE}.tests.benchmarks.many_nodes_world", str(_REAL_CLUSTERS)]
    with (
        log.open("wb") as errors,
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True) as process,
    ):
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            line = process.stdout.readline()
            if not line:
                raise Failed("the emulated world did not start")
            yield _World(environment=json.loads(line), sent=process.stdin, told=process.stdout)
            process.stdin.close()
            process.wait(timeout=_GOODBYE_SECONDS)
        finally:
            process.kill()


def _environment(folder: Path, world: _World) -> dict[str, str]:
    """Of the daemon: its port and its pin are known before it starts, because bcd's DaemonSet names them."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    environment = {
        **environment_for(f"sqlite:///{folder}/fleet.db", folder),
        **world.environment,
        "BC_FLEET_GATEWAY_LISTEN_PORT": str(port),
        "BC_FLEET_RECONCILE_SETTLED_SECONDS": str(_SETTLED_SECONDS),
        **AGENT,
        "BC_FLEET_AGENT_GATEWAY_URL": f"https://127.0.0.1:{port}",
    }
    _seconds, said = run_process([*COMMAND, "certificate"], environment=environment, folder=folder)
    return {**environment, "BC_FLEET_AGENT_PINS": said.split()[-1]}


def _apply(environment: Mapping[str, str]) -> None:
    with open_session(load_settings(environ=environment)) as session:
        document = parse_document(pools_with_nodes(_POOLS, nodes=_NODES_A_ZONE))
        fleet.apply_fleet(session, fleet.plan_fleet(session, document, prune=False, refresh=False))


def _wait(what: str, count: Callable[[], int], wanted: int) -> None:
    """Return when there are so many."""
    until = time.monotonic() + _PATIENCE_SECONDS
    while (found := count()) != wanted:
        if time.monotonic() > until:
            raise Failed(f"{found} {what} and not {wanted} after {_PATIENCE_SECONDS} s")
        time.sleep(1.0)
