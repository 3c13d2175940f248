# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A crowd at the gateway's door: real bcds with real TLS at the real gateway, all at one moment of real time.

`make test` has two hundred, `make sweep` a thousand. A thousand with the passes that make their token, one after the
other on virtual time, are in tests/integration/reconcile/test_thousand_machines.py.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest
from sqlalchemy import func, select

from ansible_collections.better_compute.fleet.daemon.gateway import GatewayServer, ensure_certificate
from ansible_collections.better_compute.fleet.emulators.engine import Engine, RealClock
from ansible_collections.better_compute.fleet.emulators.kubernetes import KubernetesApis
from ansible_collections.better_compute.fleet.emulators.machines import EmulatedMachines, MachineTimes
from ansible_collections.better_compute.fleet.plugins.module_utils._core.cluster import agent as cluster_agent
from ansible_collections.better_compute.fleet.plugins.module_utils._core.cluster import join_secret
from ansible_collections.better_compute.fleet.plugins.module_utils._core.cluster.access import bootstrap_api
from ansible_collections.better_compute.fleet.plugins.module_utils._core.cluster.api import ClusterApi
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.agent import AgentSettings
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.observed import BootstrapAccess
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.records import PoolRecord
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.secret import Secret
from ansible_collections.better_compute.fleet.plugins.module_utils._core.store import Store, join_tokens, open_store
from ansible_collections.better_compute.fleet.plugins.module_utils._core.store.tables import tables
from ansible_collections.better_compute.fleet.tests.integration.machines.conftest import Anybody, machine_number
from ansible_collections.better_compute.fleet.tests.support.joining_machines import (
    TOKEN,
    new_pool,
    new_token,
    nodes_of,
)

AT_ONCE = MachineTimes(boot_seconds=0, node_gone_seconds=0, secret_sync_seconds=0)
PATIENCE_SECONDS = 120
LOOK_SECONDS = 0.3


@dataclass(kw_only=True)
class Door:
    """A gateway over a store, a pool, and machines of it whose bcds wait for a token."""

    clock: RealClock
    store: Store
    gateway: GatewayServer
    machines: EmulatedMachines
    api: ClusterApi
    pool: PoolRecord
    crowd: int

    def give_token(self) -> None:
        now = self.clock.now()
        new_token(self.store, self.pool, max_uses=self.crowd, created_at=now, expires_at=now + timedelta(hours=1))
        join_secret.write_join_token(self.api, pool_id=self.pool.id, token=TOKEN)

    def until(self, reached: Callable[[], bool]) -> None:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not reached():
            assert time.monotonic() < deadline, f"{uses(self.store)} joined"
            time.sleep(LOOK_SECONDS)

    def all_are_heard(self) -> bool:
        """Whether each machine has joined and sent a heartbeat since."""
        if uses(self.store) < self.crowd:
            return False
        self.gateway.heartbeats.flush(self.store)
        return all(node.last_seen_at > node.joined_at for node in nodes_of(self.store, self.pool))


@contextmanager
def door(folder: Path, database: str, *, crowd: int) -> Iterator[Door]:
    with ExitStack() as stack:
        clock = RealClock()
        engine = Engine(clock)
        stack.callback(engine.close)
        store = open_store(database, clock=clock)
        stack.callback(store.close)
        certificate = ensure_certificate(folder, hosts=["127.0.0.1"])
        gateway = stack.enter_context(
            GatewayServer(store=store, clock=clock, certificate=certificate, host="127.0.0.1", port=0)
        )
        apis = KubernetesApis(engine=engine, authenticator=Anybody())
        stack.callback(apis.close)
        url, ca_pem = apis.start("gpu")
        access = BootstrapAccess(
            endpoint=url, ca_pem=ca_pem, token=Secret("any"), expires_at=clock.now() + timedelta(minutes=15)
        )
        api = stack.enter_context(bootstrap_api(access))
        machines = EmulatedMachines(engine=engine, clusters=apis.cluster, times=AT_ONCE)
        stack.callback(machines.close)
        pool = new_pool(store)
        agent = AgentSettings(
            image="bcd:test", gateway_url=f"https://127.0.0.1:{gateway.port}", pins=(certificate.pin,)
        )
        cluster_agent.apply_agent(api, pool_id=pool.id, agent=agent)
        yield Door(clock=clock, store=store, gateway=gateway, machines=machines, api=api, pool=pool, crowd=crowd)


def uses(store: Store) -> int:
    """How many uses of all tokens were spent."""
    with store.read() as tx:
        return int(tx.execute(select(func.count()).select_from(tables().token_uses)).scalar_one())


@pytest.mark.parametrize("crowd", [200, pytest.param(1_000, marks=pytest.mark.sweep)])
def test_a_crowd_joins_at_one_moment_each_once_with_exactly_as_many_uses(
    crowd: int, store_url: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    with door(tmp_path / "gateway", store_url, crowd=crowd) as at:
        launched = [machine_number(number, pool=at.pool.id, gpus=8) for number in range(crowd)]
        booted: list[str] = []
        for machine in launched:
            at.machines.launch(machine, partial(booted.append, machine.node_name))
        at.until(lambda: len(booted) == crowd)
        at.give_token()
        at.until(at.all_are_heard)
        nodes = nodes_of(at.store, at.pool)
        assert {node.reported_node_name for node in nodes} == set(booted)
        assert len({node.identity_hash for node in nodes}) == crowd
        with at.store.read() as tx:
            (token,) = join_tokens.live_tokens(tx, at.pool.id)
        assert (token.uses, uses(at.store)) == (crowd, crowd)
    told = [record.getMessage() for record in caplog.records]
    assert [text for text in told if "refused" in text] == []
    assert [record.getMessage() for record in caplog.records if record.levelno >= logging.ERROR] == []
