# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A real gateway on real TLS over a store on each database, and a pool with a join token."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ansible_collections.better_compute.fleet.daemon.gateway import Certificate, GatewayServer, ensure_certificate
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.records import PoolRecord
from ansible_collections.better_compute.fleet.plugins.module_utils._core.store import Store
from ansible_collections.better_compute.fleet.tests.support.joining_machines import TOKEN, new_pool, new_token
from ansible_collections.better_compute.fleet.tests.support.rows import HandClock
from ansible_collections.better_compute.fleet.tests.support.wire_client import WireClient, wire_client


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    """The gateway's certificate: one for the session, because making a key takes time."""
    return ensure_certificate(tmp_path_factory.mktemp("gateway"), hosts=["127.0.0.1"])


@pytest.fixture
def gateway(store: Store, clock: HandClock, certificate: Certificate) -> Iterator[GatewayServer]:
    """The gateway."""
    with GatewayServer(store=store, clock=clock, certificate=certificate, host="127.0.0.1", port=0) as server:
        yield server


@pytest.fixture
def client(gateway: GatewayServer) -> Iterator[WireClient]:
    """Somebody who calls it."""
    with wire_client(gateway.port) as made:
        yield made


@pytest.fixture
def pool(store: Store) -> PoolRecord:
    """A pool that machines can join."""
    return new_pool(store)


@pytest.fixture
def token(store: Store, pool: PoolRecord) -> str:
    """Its join token, good for three machines."""
    return new_token(store, pool, TOKEN, max_uses=3).reveal()


@pytest.fixture
def node_id(client: WireClient, token: str) -> str:
    """A machine that has joined."""
    return str(client.join(token=token).body["nodeId"])
