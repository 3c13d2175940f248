# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What holds of every match, whatever the nodes and the list are."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from random import Random
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.ids import NodeId
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.liveness import (
    Listening,
    Liveness,
    liveness,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.observed import ClusterNode
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.records import PoolNode
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.states import NodeState
from ansible_collections.better_compute.fleet.tests.support.machines_and_nodes import NOW, compare, machine
from ansible_collections.better_compute.fleet.tests.support.rows import START

NAMES = st.sampled_from(["a", "b", "c"])
UIDS = st.sampled_from(["1", "2", "3", "4"])
AGES = st.integers(0, 120).map(lambda seconds: timedelta(seconds=seconds))

MARKS = st.one_of(
    st.none(), st.builds(lambda since, heard: Listening(since=NOW - since, heard_at=NOW - heard), AGES, AGES)
)

WANTED = st.one_of(st.none(), st.integers(0, 4))

CLUSTERS = st.dictionaries(NAMES, UIDS).map(
    # One UID is one Node.
    lambda found: [
        ClusterNode(name=name, uid=f"{name}{uid}", spot=uid == "1", age=NOW - START) for name, uid in found.items()
    ]
)


@st.composite
def pools(draw: st.DrawFn) -> list[PoolNode]:
    nodes = []
    for number in range(draw(st.integers(0, 6))):
        name, seen = draw(NAMES), NOW - draw(AGES)
        node = machine(name, id=NodeId(f"node_{number}"), seen=seen, joined=seen - draw(AGES))
        if draw(st.booleans()):
            state = draw(st.sampled_from([NodeState.MATCHED, NodeState.CORDONED, NodeState.RETIRED]))
            node = replace(node, state=state, node_name=name, node_uid=f"{name}{draw(UIDS)}")
        nodes.append(node)
    return nodes


@given(nodes=pools(), cluster=CLUSTERS, mark=MARKS, wanted=WANTED)
def test_only_what_is_disconnected_and_whose_own_node_has_no_claim_left_is_retired(
    nodes: list[PoolNode], cluster: list[ClusterNode], mark: Listening | None, wanted: int | None
) -> None:
    found = compare(nodes, cluster, listening=mark, desired_total=wanted)
    by_uid = {node.uid: node for node in cluster}
    for departure in found.to_retire:
        node = departure.node
        assert node.state != NodeState.RETIRED
        assert liveness(node.last_seen_at, listening=mark, now=NOW) == Liveness.DISCONNECTED
        if node.node_uid in by_uid:
            # Only another machine that joined under this very Node since can end it.
            successors = [one for one in nodes if one.hostname == node.hostname and one.joined_at > node.last_seen_at]
            assert successors


@given(nodes=pools(), cluster=CLUSTERS, mark=MARKS, wanted=WANTED)
def test_no_two_machines_get_one_node_and_nobody_is_matched_and_retired_at_once(
    nodes: list[PoolNode], cluster: list[ClusterNode], mark: Listening | None, wanted: int | None
) -> None:
    found = compare(nodes, cluster, listening=mark, desired_total=wanted)
    assert len({one.node_uid for one in found.to_record}) == len(found.to_record)
    assert len({one.node_id for one in found.to_record}) == len(found.to_record)
    assert not {one.node_id for one in found.to_record} & {one.node.id for one in found.to_retire}
    assert not set(found.unmatched) & {one.node.id for one in found.to_retire}


@given(nodes=pools(), cluster=CLUSTERS, mark=MARKS, wanted=WANTED)
def test_matching_again_after_recording_changes_nothing_more(
    nodes: list[PoolNode], cluster: list[ClusterNode], mark: Listening | None, wanted: int | None
) -> None:
    found = compare(nodes, cluster, listening=mark, desired_total=wanted)
    gone = {one.node.id for one in found.to_retire}
    changes: dict[NodeId, dict[str, Any]] = {
        one.node_id: {
            "node_name": one.node_name,
            "node_uid": one.node_uid,
            "spot": one.spot,
            "labels": one.labels,
            "state": one.state,
        }
        for one in found.to_record
    }
    after = [replace(node, **changes.get(node.id, {})) for node in nodes if node.id not in gone]
    again = compare(after, cluster, listening=mark, desired_total=wanted, vanished_at=found.vanished_at)
    assert (again.to_record, again.to_retire) == ((), ())


@given(nodes=pools(), cluster=CLUSTERS, mark=MARKS, order=st.randoms(use_true_random=False))
def test_the_order_of_what_is_listed_never_matters(
    nodes: list[PoolNode], cluster: list[ClusterNode], mark: Listening | None, order: Random
) -> None:
    found = compare(nodes, cluster, listening=mark)
    order.shuffle(nodes)
    order.shuffle(cluster)
    assert compare(nodes, cluster, listening=mark) == found


@given(nodes=pools(), cluster=CLUSTERS, mark=MARKS)
def test_every_listed_node_has_joined_or_waits_and_who_waits_is_not_connected(
    nodes: list[PoolNode], cluster: list[ClusterNode], mark: Listening | None
) -> None:
    found = compare(nodes, cluster, listening=mark)
    assert found.joined + len(found.waiting) == found.listed == len(cluster)
    assert len(found.waiting) <= found.unconnected <= found.listed
