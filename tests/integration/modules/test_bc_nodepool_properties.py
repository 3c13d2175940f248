# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""bc_nodepool over random pairs of what is wanted and what is recorded: a check run says exactly what a run then does.

Another process holds the pools' leases, so that what is recorded is all that happens.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.declared import (
    Autoscaling,
    Flavor,
    Taint,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.states import NodePoolState
from ansible_collections.better_compute.fleet.plugins.module_utils._core.store import clusters, work
from ansible_collections.better_compute.fleet.plugins.module_utils._core.store.tables import tables
from ansible_collections.better_compute.fleet.tests.support import rows
from ansible_collections.better_compute.fleet.tests.support.life.world import document
from ansible_collections.better_compute.fleet.tests.support.module_runs import Modules

NAMES = ("a", "b", "c")
MACHINE = "m7i.large"
LABELS: tuple[dict[str, str], ...] = ({}, {"team": "a"}, {"team": "b"})
TAINTS: tuple[tuple[Taint, ...], ...] = ((), (Taint(key="k", effect="NoSchedule"),))
BOUNDS = (Autoscaling(min_nodes=0, max_nodes=2), Autoscaling(min_nodes=1, max_nodes=4))
STATES = (NodePoolState.PENDING, NodePoolState.READY, NodePoolState.READY, NodePoolState.UPDATING, NodePoolState.ERROR)

RARELY = st.integers(0, 11).map(lambda number: number == 7)


@st.composite
def recorded(draw: st.DrawFn) -> dict[str, tuple[Flavor, NodePoolState]]:
    """Node pools that callers have made, as they may stand."""
    names = draw(st.sets(st.sampled_from(NAMES)))
    return {
        name: (
            Flavor(
                name=name,
                machine_type=MACHINE,
                nodes=draw(st.integers(1, 2)),
                autoscaling=draw(st.none() | st.sampled_from(BOUNDS)),
                labels=draw(st.none() | st.sampled_from(LABELS)),
                taints=draw(st.none() | st.sampled_from(TAINTS)),
            ),
            draw(st.sampled_from(STATES) if not draw(RARELY) else st.just(NodePoolState.DELETING)),
        )
        for name in sorted(names)
    }


@st.composite
def item(draw: st.DrawFn, name: str) -> dict[str, Any]:
    """A wanted node pool: often right, at times wrong in some field."""
    bounds = [{"enabled": True, "min_nodes": one.min_nodes, "max_nodes": one.max_nodes} for one in BOUNDS]
    taints = [[{"key": taint.key, "value": taint.value, "effect": taint.effect} for taint in some] for some in TAINTS]
    wanted: dict[str, Any] = {"name": name, "machine_type": MACHINE, "node_count": draw(st.integers(1, 3))}
    if draw(st.booleans()):
        wanted["autoscaling"] = draw(st.sampled_from([*bounds, {"enabled": False}]))
    if draw(RARELY):
        wanted["labels"] = draw(st.sampled_from(LABELS))
    if draw(RARELY):
        wanted["taints"] = draw(st.sampled_from(taints))
    if draw(RARELY):
        wanted["idempotency_key"] = "k"
    if draw(RARELY):
        wanted["node_count"] = -1
    if draw(RARELY):
        wanted["name"] = "h100"
    if draw(RARELY):
        wanted.pop(draw(st.sampled_from(["machine_type", "node_count"])))
    return wanted


@st.composite
def calls(draw: st.DrawFn) -> dict[str, Any]:
    """Tasks."""
    names = draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=3, unique=True))
    items = [draw(item(name)) for name in names]
    return {"node_pools": items, "state": draw(st.sampled_from(["present", "present", "present", "absent"]))}


def record(modules: Modules, node_pools: Mapping[str, tuple[Flavor, NodePoolState]]) -> None:
    """Have these node pools stand beside the flavors, and no others, and no key be used."""
    table = tables()
    cluster = modules.fleet.cluster()
    with modules.fleet.scene.store.write() as tx:
        tx.execute(table.idempotency.delete())
        tx.execute(table.node_pools.delete().where(table.node_pools.c.of_flavor.is_(False)))
        for name, (shape, state) in node_pools.items():
            made = rows.node_pool(cluster.id, name=name, shape=shape, of_flavor=False)
            clusters.add_node_pool(tx, made)
            clusters.set_node_pool_status(tx, replace(made, state=state, observed_version=1))


def holds(modules: Modules, before: Mapping[str, tuple[Flavor, NodePoolState]], call: dict[str, Any]) -> None:
    record(modules, before)
    arguments = {"pool": "gpu-fleet", "wait": False, **call}
    stood = modules.fleet.rows()
    checked = modules.run("bc_nodepool", check=True, **arguments)
    assert modules.fleet.rows() == stood
    done = modules.run("bc_nodepool", **arguments)
    for field in ("failed", "changed", "code", "problems", "diff"):
        assert checked.get(field) == done.get(field), field
    if done["failed"]:
        assert modules.fleet.rows() == stood
        return
    assert done["changed"] == (modules.fleet.rows() != stood) == (done["diff"] != {"before": {}, "after": {}})
    told = {(one["name"], one["version"]) for one in done["node_pools"]}
    assert told <= {(name, one.version) for name, one in modules.fleet.node_pools().items()}
    assert not modules.run("bc_nodepool", check=True, **arguments)["changed"], "a second run has nothing to do"


def test_a_check_run_says_exactly_what_a_run_then_records(modules: Modules) -> None:
    modules.run("bc_fleet", config=document(), wait=False)
    with modules.fleet.scene.store.write() as tx:
        assert work.acquire(tx, modules.fleet.pool_id, "another process") is not None

    @settings(max_examples=50, deadline=None)
    @given(before=recorded(), call=calls())
    def over_random_pairs(before: Mapping[str, tuple[Flavor, NodePoolState]], call: dict[str, Any]) -> None:
        holds(modules, before, call)

    over_random_pairs()
