# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""gateway.load_*: joins and heartbeats side by side at one gateway, on both databases, and what it holds for each node.

One `bc-fleetd run` with the settings' defaults, the load in a process of its own (load_process.py). The pools have no
work to be done, so all that is measured is the gateway; daemon.hundred_substrates has passes too.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.secret import Secret
from ansible_collections.better_compute.fleet.plugins.module_utils._core.store import (
    create_schema,
    fleet,
    join_tokens,
    open_store,
)
from ansible_collections.better_compute.fleet.tests.support import postgres, rows
from ansible_collections.better_compute.fleet.tests.support.daemon_process import environment_for

from .item import Bar, Item
from .load_and_daemon import running_daemon, running_load
from .load_process import Measured, Phase, milliseconds, quantile
from .timing import Failed

LOAD_SQLITE: Final = Item(name="gateway.load_sqlite", unit="ms", side=Bar.AT_MOST, bar=250.0)
MEMORY: Final = Item(name="gateway.memory", unit="KiB", side=Bar.AT_MOST, bar=100.0)
LOAD_POSTGRESQL: Final = Item(name="gateway.load_postgresql", unit="ms", side=Bar.AT_MOST, bar=250.0)
ITEMS: Final = (LOAD_SQLITE, MEMORY, LOAD_POSTGRESQL)

_POOLS: Final = 10
_BEFORE: Final = 1_000
"""Machines that have joined when the clock starts, at the same rate as the load's own."""

_SECONDS: Final = 30
_JOINS_PER_SECOND: Final = 50
_HEARTBEATS_PER_SECOND: Final = 500
_SHARE: Final = 0.99


@dataclass(frozen=True, slots=True, kw_only=True)
class _Run:
    """What one database gave.

    Attributes:
        processor_share: of one core, by the daemon, under the load.
        bytes_per_node: that the daemon's memory grew by from no machine to all of them, for each.
    """

    measured: Measured
    processor_share: float
    bytes_per_node: float
    machines: int


def measure(_folder: Path) -> Iterator[Item]:
    """On a SQLite file on the disk of the temporary folder, then on PostgreSQL there."""
    with tempfile.TemporaryDirectory(prefix="bc-bench-") as made:
        found = _run(f"sqlite:///{made}/fleet.db", Path(made))
    yield _item(LOAD_SQLITE, found)
    yield replace(
        MEMORY,
        value=found.bytes_per_node / 1024,
        note=f"more memory of the daemon for each of {found.machines:,} nodes with one open connection",
    )
    with tempfile.TemporaryDirectory(prefix="bc-bench-") as made, _postgresql() as url:
        yield _item(LOAD_POSTGRESQL, _run(url, Path(made)))


@contextmanager
def _postgresql() -> Iterator[str]:
    try:
        with postgres.running_server(durable=True) as server, server.fresh_database(hint="bench") as url:
            create_schema(url)
            yield url
    except postgres.PostgresUnavailable as error:
        raise Failed(str(error)) from error


def _run(url: str, folder: Path) -> _Run:
    tokens = _pools(url)
    joins = [
        (tokens[number % _POOLS], f"ip-10-1-{number // 250}-{number % 250}.ec2.internal") for number in range(9999)
    ]
    environment = environment_for(url, folder)
    with (
        running_daemon(environment, log=folder / "daemon.log") as daemon,
        running_load(environment) as load,
    ):
        empty = daemon.resident_bytes()
        before = Phase(gateway=daemon.gateway, joins=tuple(joins[:_BEFORE]), joins_per_second=_JOINS_PER_SECOND)
        _all_well(load.run(before))
        during = joins[_BEFORE : _BEFORE + _SECONDS * _JOINS_PER_SECOND]
        spent = daemon.processor_seconds()
        measured = load.run(
            replace(before, joins=tuple(during), seconds=_SECONDS, heartbeats_per_second=_HEARTBEATS_PER_SECOND)
        )
        return _Run(
            measured=measured,
            processor_share=(daemon.processor_seconds() - spent) / _SECONDS,
            bytes_per_node=(daemon.resident_bytes() - empty) / (_BEFORE + len(during)),
            machines=_BEFORE + len(during),
        )


def _pools(url: str) -> list[str]:
    """Pools whose machines may join; gives their tokens."""
    now = datetime.now(UTC)
    store = open_store(url)
    try:
        tokens = [f"bcj_token-of-pool-{number}" for number in range(_POOLS)]
        with store.write() as tx:
            for number, token in enumerate(tokens):
                pool = rows.pool(name=f"pool-{number}")
                fleet.put_pool(tx, pool)
                lives = {"created_at": now, "expires_at": now + timedelta(days=1), "max_uses": 10_000}
                join_tokens.add_token(tx, rows.token(pool.id, token_hash=Secret(token).sha256(), **lives))
        return tokens
    finally:
        store.close()


def _all_well(measured: Measured) -> None:
    if measured.failed:
        raise Failed(f"calls failed before the clock started: {measured.failed}")


def _item(item: Item, run: _Run) -> Item:
    measured = run.measured
    joins, heartbeats = quantile(measured.joins, _SHARE), quantile(measured.heartbeats, _SHARE)
    return replace(
        item,
        value=1000 * max(joins, heartbeats),
        wrong=f"calls failed: {measured.failed}" if measured.failed else "",
        note=f"p50 and p99 of {len(measured.joins):,} joins {milliseconds(measured.joins)}, "
        f"of {len(measured.heartbeats):,} heartbeats {milliseconds(measured.heartbeats)}; "
        f"the load itself was late by {1000 * quantile(measured.late, _SHARE):.0f} ms (p99); "
        f"processor time of the daemon {run.processor_share:.2f} of a core, of the load "
        f"{measured.processor_seconds / _SECONDS:.2f}; load average {os.getloadavg()[0]:.1f}",
    )
