# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whatever is done to emulated clusters, in whatever order: they come to rest as they were asked, and leave nothing."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from hypothesis import given, settings
from hypothesis import strategies as st

from ansible_collections.better_compute.fleet.emulators.aws import InstantMachines, UnreachableApis
from ansible_collections.better_compute.fleet.emulators.digitalocean import Refusal, Timings, service
from ansible_collections.better_compute.fleet.emulators.digitalocean.records import Data
from ansible_collections.better_compute.fleet.emulators.digitalocean.service import Request
from ansible_collections.better_compute.fleet.emulators.digitalocean.state import State
from ansible_collections.better_compute.fleet.emulators.engine import Engine, VirtualClock

SIZES = ("gpu-h100x1-80gb", "s-2vcpu-4gb")
POOL = {"name": "first", "size": SIZES[0], "count": 2}
AT_REST_SECONDS = 3600


class Bench:
    """One cluster, and hands that do things to it; what is refused is refused."""

    def __init__(self) -> None:
        self.clock = VirtualClock()
        self.machines = InstantMachines()
        self.engine = Engine(self.clock)
        self.state = State(engine=self.engine, apis=UnreachableApis(), machines=self.machines, timings=Timings())
        body = {"name": "one", "region": "nyc2", "version": "1.33", "surge_upgrade": True, "node_pools": [POOL]}
        self.ask("POST", body=body)
        [self.cluster_id] = self.state.clusters
        self.made = 0

    def ask(self, method: str, *rest: str, body: Data | None = None) -> None:
        request = Request(
            method=method, parts=("kubernetes", "clusters", *rest), query={}, body=body or {}, url="https://api"
        )
        with suppress(Refusal), self.state.changing():
            service.answer(self.state, request)

    def pool_id(self, number: int) -> str:
        pools = list(self.state.clusters[self.cluster_id].pools)
        return pools[number % len(pools)]

    def add(self, number: int) -> None:
        self.made += 1
        body = {"name": f"p{self.made}", "size": SIZES[number % 2], "count": 1 + number % 3}
        self.ask("POST", self.cluster_id, "node_pools", body=body)

    def resize(self, number: int) -> None:
        pool_id = self.pool_id(number)
        name = self.state.clusters[self.cluster_id].pools[pool_id].name
        self.ask("PUT", self.cluster_id, "node_pools", pool_id, body={"name": name, "count": 1 + number % 4})

    def delete_pool(self, number: int) -> None:
        self.ask("DELETE", self.cluster_id, "node_pools", self.pool_id(number))

    def delete_node(self, number: int) -> None:
        pool_id = self.pool_id(number)
        for node_id in list(self.state.clusters[self.cluster_id].pools[pool_id].nodes)[:1]:
            self.ask("DELETE", self.cluster_id, "node_pools", pool_id, "nodes", node_id)

    def upgrade(self, _number: int) -> None:
        self.ask("POST", self.cluster_id, "upgrade", body={"version": "1.34.1-do.0"})

    def run_out(self, number: int) -> None:
        self.state.capacity.take_away(SIZES[number % 2])

    def restock(self, _number: int) -> None:
        self.state.capacity.give_back()

    def wait(self, number: int) -> None:
        self.clock.advance(7 * number)


ACTIONS: tuple[Callable[[Bench, int], None], ...] = (
    Bench.add,
    Bench.resize,
    Bench.delete_pool,
    Bench.delete_node,
    Bench.upgrade,
    Bench.run_out,
    Bench.restock,
    Bench.wait,
)
STEPS = st.lists(st.tuples(st.sampled_from(ACTIONS), st.integers(0, 60)), min_size=5, max_size=25)


@settings(max_examples=100, deadline=None)
@given(steps=STEPS, made=st.booleans())
def test_a_cluster_comes_to_rest_with_the_nodes_that_were_asked_for_and_leaves_nothing(
    steps: list[tuple[Callable[[Bench, int], None], int]], made: bool
) -> None:
    bench = Bench()
    if made:
        bench.clock.advance(AT_REST_SECONDS)
    for act, number in steps:
        act(bench, number)
    bench.state.capacity.give_back()
    bench.clock.advance(AT_REST_SECONDS)

    cluster = bench.state.clusters[bench.cluster_id]
    assert (cluster.state, cluster.message) == ("running", "")
    nodes = [node for pool in cluster.pools.values() for node in pool.nodes.values()]
    assert {node.state for node in nodes} <= {"running"}
    assert [len(pool.nodes) for pool in cluster.pools.values()] == [pool.count for pool in cluster.pools.values()]
    assert {node.version for node in nodes} == {cluster.version}
    droplets = {str(node.droplet.id) for node in nodes if node.droplet is not None}
    assert set(bench.machines.running) == {str(one) for one in bench.state.droplets} == droplets
    assert {item.id for item in bench.engine.inventory.items(kind="machine")} == droplets

    bench.ask("DELETE", bench.cluster_id)
    bench.clock.advance(AT_REST_SECONDS)
    assert bench.engine.inventory.items() == ()
    assert bench.machines.running == {}
    assert bench.state.droplets == {}
    bench.engine.close()
