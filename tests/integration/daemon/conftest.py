# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A session whose passes a test holds up at their provider's door, and pools that are due."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ansible_collections.better_compute.fleet.plugins.module_utils._core.documents.settings import load_settings
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.clock import SystemClock
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.records import AccountRecord, PoolRecord
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.session import Session
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.contract import Driver
from ansible_collections.better_compute.fleet.plugins.module_utils._core.store import (
    Store,
    clusters,
    fleet,
    open_store,
    substrates,
    work,
)
from ansible_collections.better_compute.fleet.tests.support import rows

WORKERS = 2

ACCOUNT = {
    "region": "eu-west-1",
    "eksClusterRoleArn": "arn:aws:iam::111122223333:role/cluster",
    "eksNodeRoleArn": "arn:aws:iam::111122223333:role/node",
    "eksSubnetIds": ["subnet-1", "subnet-2"],
}


class Door:
    """The provider's door: each pass that comes to it waits until the test opens it, and then finds a fault.

    Attributes:
        driver: what it finds instead of a fault.
    """

    def __init__(self) -> None:
        self.open = threading.Event()
        self.came = threading.Semaphore(0)
        self.driver: Driver | None = None

    def __call__(self, _account: AccountRecord) -> Driver:
        self.came.release()
        assert self.open.wait(30)
        if self.driver is None:
            raise RuntimeError("the provider's door is jammed")
        return self.driver

    def until_came(self, times: int) -> None:
        """Return when so many more passes have come."""
        for _ in range(times):
            assert self.came.acquire(timeout=30)


@pytest.fixture
def door() -> Iterator[Door]:
    made = Door()
    yield made
    made.open.set()


@pytest.fixture
def clocked_store(store_url: str) -> Iterator[Store]:
    """The store on the clock that it has in the daemon: leases must not lapse while a test runs."""
    opened = open_store(store_url)
    yield opened
    opened.close()


@pytest.fixture
def session(clocked_store: Store, door: Door, tmp_path: Path) -> Session:
    environ = {"BC_FLEET_RECONCILE_WORKERS": str(WORKERS), "BC_FLEET_GATEWAY_STATE_DIR": str(tmp_path)}
    return Session(
        store=clocked_store,
        clock=SystemClock(),
        settings=load_settings(environ=environ),
        caller="test",
        holder="test/1",
        open_driver=door,
        sleep=lambda _: None,
    )


@pytest.fixture
def due_pools(clocked_store: Store) -> Callable[..., list[PoolRecord]]:
    """Makes so many pools with a substrate, due now: each of an account of its own, or all of one that is named."""

    def make(count: int, *, account_name: str = "") -> list[PoolRecord]:
        made = []
        shared = rows.account(name=account_name, config=ACCOUNT)
        with clocked_store.write() as tx:
            for number in range(count):
                account = shared if account_name else rows.account(name=f"aws-{number}", config=ACCOUNT)
                fleet.put_account(tx, account)
                pool = rows.pool(name=f"{account_name or 'pool'}-{number}")
                cluster = rows.cluster(pool.id, account_id=account.id)
                work.add_unit(tx, pool.id, tx.now)
                fleet.put_pool(tx, pool)
                clusters.add_cluster(tx, cluster)
                substrates.put_substrate(tx, rows.substrate(pool.id, cluster))
                made.append(pool)
        return made

    return make
