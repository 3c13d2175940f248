# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The process that runs the product is killed, really, wherever it can be; then another one goes on to the same end.

The places come from a recorded life: each call to the provider and to the cluster (before it reached them, and for a
change also after its effect, before the answer) and each commit (before and after). Whatever the product learns to call
is swept with the rest. `make test` kills one life at each of its steps, and a spread of lives once each; `make sweep`
kills at every single place (of a read that is made again and again, at the first two), a life once in each of its
phases: a phase begins when the one before has come to its end, which is judged. Where the control plane is built,
`make test` also kills a life at each of its requests to a real kube-apiserver, and judges it alike.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import cache
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

import pytest

from ansible_collections.better_compute.fleet.emulators.engine import Hook
from ansible_collections.better_compute.fleet.emulators.engine.inventory import Item
from ansible_collections.better_compute.fleet.emulators.kubernetes.cluster import CLOUD as CLUSTER
from ansible_collections.better_compute.fleet.tests.support.life import (
    Ended,
    Life,
    Point,
    Scene,
    accepted,
    memory_folder,
    remains,
    scene,
    standing,
)
from ansible_collections.better_compute.fleet.tests.support.life.child import PHASES
from ansible_collections.better_compute.fleet.tests.support.life.points import COMMIT
from ansible_collections.better_compute.fleet.tests.support.postgres import PostgresServer

if TYPE_CHECKING:
    from ansible_collections.better_compute.fleet.tests.support.controlplane.cluster import RealCluster

STANDING = {
    "inventory": {
        "aws cluster": 1,
        "aws access-entry": 1,
        "aws node-group": 2,
        "aws machine": 3,
        "kubernetes Namespace": 2,
        "kubernetes ServiceAccount": 1,
        "kubernetes ClusterRoleBinding": 1,
        "kubernetes ConfigMap": 2,
        "kubernetes DaemonSet": 1,
    },
    "secrets": 0,
    "live tokens": 0,
    "token uses": 3,
    "nodes that used a token": 3,
    "nodes": {"matched": 3},
    "node pools": {("h100", "ready"): 1, ("h100-spot", "ready"): 1},
    "cluster": {"ready": 1},
    "substrate": {("ready", 3, 3, 0, ""): 1},
}
"""Once every Node has joined: one cluster, the right node groups, one join per node, no token any more."""

REMAINS = {
    "inventory": [],
    "live tokens": 0,
    "clusters": {("deleted", ""): 1},
    "node pools": {("h100", "deleted"): 1, ("h100-spot", "deleted"): 1},
    "substrates": {("deleted", 0, 0, ""): 1},
    "nodes": {"retired": 3},
    "work": 0,
    "held devices": 0,
    "reservations": {("released", 2): 1},
    "refunds": {2: 1},
    "idempotency keys": 1,
    "serial": {3: 1},
    "events": {
        "kubernetes.cluster.ready": 1,
        "kubernetes.cluster.updated": 1,
        "kubernetes.cluster.deleted": 1,
        "kubernetes.nodepool.created": 2,
        "kubernetes.nodepool.ready": 3,
        "kubernetes.nodepool.deleted": 2,
        "node.retired": 3,
    },
}
"""At the end: nothing but history, in which everything happened once."""

REFUSALS = {"kubernetes.cluster.error", "kubernetes.nodepool.error"}
"""Each once, of the change that is given up; never, when the name of that change was lost with a killed process."""

GOES_WITH_ITS_CLUSTER = {"Namespace": 1, "ServiceAccount": 1, "ClusterRoleBinding": 1, "ConfigMap": 1}
"""What stands in the cluster when it is deleted: our way into it and our claim, and nothing of the agent."""

UPDATE = "eks.UpdateNodegroupConfig bc-*/h100-spot"

CHANGES = dict.fromkeys(
    (
        "eks.CreateCluster bc-*",
        "eks.CreateAccessEntry bc-*/arn:aws:iam::111111111111:user/operator",
        "eks.AssociateAccessPolicy bc-*/arn:aws:iam::111111111111:user/operator",
        "POST namespaces bc-*/bc-access",
        "POST clusterrolebindings bc-*/bc-substrate",
        "POST serviceaccounts bc-*/bc-access/bc-substrate",
        "POST configmaps bc-*/kube-system/better-compute-substrate",
        "eks.CreateNodegroup bc-*/h100",
        "eks.CreateNodegroup bc-*/h100-spot",
        "POST namespaces bc-*/better-compute",
        "POST configmaps bc-*/better-compute/bcd",
        "POST daemonsets bc-*/better-compute/bcd",
        "POST secrets bc-*/better-compute/bcd-join",
        "DELETE secrets bc-*/better-compute/bcd-join",
        "DELETE daemonsets bc-*/better-compute/bcd",
        "DELETE configmaps bc-*/better-compute/bcd",
        "DELETE namespaces bc-*/better-compute",
        "eks.DeleteNodegroup bc-*/h100",
        "eks.DeleteNodegroup bc-*/h100-spot",
        "eks.DeleteCluster bc-*",
    ),
    1,
) | {UPDATE: 2}
"""What providers and clusters carry out in a whole life. Each once: nothing is ever created or deleted twice. A change
of a node group twice, because the first is given up."""

REPEATED = {
    "POST secrets bc-*/better-compute/bcd-join",
    "PATCH secrets bc-*/better-compute/bcd-join",
    "DELETE secrets bc-*/better-compute/bcd-join",
}
"""A token that a killed process took with it is minted anew, and goes into the Secret once more."""

KINDS = ("aws", CLUSTER, COMMIT)
HALVES = (("apply",), ("join", "book", "release", "change", "again", "prune"))
SPREAD = 6
SPREAD_ON_POSTGRESQL = 3
CHUNKS = 48


def lives_on(url: str, strike: Callable[[Point], bool], real: RealCluster | None = None) -> tuple[Ended, ...]:
    """Play a life to its end, judge it, and return every child that it took."""
    with scene(url, real=real) as stage:
        stage.world.aws.failures.add(
            "update", code="InsufficientFreeAddresses", message="no address is left", target="*/h100-spot"
        )
        inside: list[Counter[str]] = []
        look = Hook(on_before=lambda _call: inside.append(Counter(item.kind for item in in_cluster(stage))))
        stage.engine.faults.add("aws", "eks.DeleteCluster", look, times=None)
        life = Life(stage)
        children: list[Ended] = []
        for phase in PHASES:
            mark = stage.engine.log.mark
            children += life.finish(phase, strike=strike)
            if phase in ("join", "change"):
                assert standing(stage) == STANDING
            if phase == "again":
                assert children[-1].result["changed"] is False
                assert stage.engine.log.entries(after=mark, mutating=True) == ()
        judge_end(stage)
        assert all(found == GOES_WITH_ITS_CLUSTER for found in inside), inside
    return tuple(children)


def in_cluster(stage: Scene) -> tuple[Item, ...]:
    return stage.engine.inventory.items(cloud=CLUSTER)


def judge_end(stage: Scene) -> None:
    left = remains(stage)
    refused = {name: left["events"].pop(name, 0) for name in REFUSALS}
    assert set(refused.values()) <= {0, 1}
    assert left == REMAINS
    carried_out = accepted(stage.engine.log.entries())
    assert without(carried_out, REPEATED) == without(CHANGES, REPEATED)


def without(counts: Any, names: set[str]) -> dict[str, int]:
    return {name: count for name, count in counts.items() if name not in names}


def kill_at(points: Collection[Point]) -> Callable[[Point], bool]:
    """Strike at each of the points, once."""
    left = set(points)

    def strike(reached: Point) -> bool:
        if reached not in left:
            return False
        left.remove(reached)
        return True

    return strike


@cache
def recorded_points() -> tuple[Point, ...]:
    """Where a life can be killed, in its order: recorded from one that nobody kills."""
    with memory_folder() as folder:
        children = lives_on(f"sqlite:///{folder / 'fleet.db'}", lambda _point: False)
    return tuple(point for child in children for point in child.reached)


def swept_points() -> tuple[Point, ...]:
    """All of them; but of a read that a phase makes in each of its passes, the first two."""
    return tuple(one for one in recorded_points() if one.kind == COMMIT or one.name in CHANGES or one.nth <= 2)


def swept_lives() -> list[list[Point]]:
    """The same, one of each phase in a life for as long as the phases have any."""
    phases = [[point for point in swept_points() if point.phase == phase] for phase in PHASES]
    return [[point for point in points if point is not None] for points in zip_longest(*phases)]


def spread(points: tuple[Point, ...], count: int) -> list[Point]:
    """So many points at even distances, of every part of a life."""
    return [points[index * len(points) // count] for index in range(count)]


@pytest.fixture
def url() -> Iterator[str]:
    with memory_folder() as folder:
        yield f"sqlite:///{folder / 'fleet.db'}"


def killed(url: str, points: Collection[Point]) -> list[Point]:
    """Kill a life at these points, at most one in a phase; where it was killed."""
    try:
        children = lives_on(url, kill_at(points))
    except BaseException as error:
        error.add_note(f"in a life that was killed {', '.join(str(point) for point in points)}")
        raise
    return [child.struck for child in children if child.struck is not None]


def test_a_life_has_many_places_where_it_can_be_killed_of_every_kind_and_in_every_phase() -> None:
    points = recorded_points()
    assert len(points) > 100
    assert len(set(points)) == len(points)
    kinds = {(point.kind, point.side) for point in points}
    assert kinds == {(kind, side) for kind in KINDS for side in ("before", "after")}
    assert {point.phase for point in points} == set(PHASES)
    changes = {point.name for point in points if point.kind != "commit" and point.side == "after"}
    assert changes == set(CHANGES)


def kill_at_each(phases: tuple[str, ...], kinds: Collection[str] = KINDS) -> tuple[set[Point], Callable[[Point], bool]]:
    """Strike at each point of these phases and kinds, once; the set fills with them."""
    struck: set[Point] = set()

    def strike(point: Point) -> bool:
        if point.phase not in phases or point.kind not in kinds or point in struck:
            return False
        struck.add(point)
        return True

    return struck, strike


def calls(points: Iterable[Point], phases: Collection[str]) -> set[tuple[str, str, str]]:
    """What there is to kill at in these phases. A process that is started anew begins to count anew."""
    return {(point.kind, point.name, point.side) for point in points if point.phase in phases}


@pytest.mark.parametrize("phases", HALVES, ids="+".join)
def test_a_life_that_is_killed_at_each_of_its_steps_comes_to_the_same_end(url: str, phases: tuple[str, ...]) -> None:
    struck, strike = kill_at_each(phases)
    lives_on(url, strike)
    assert len(struck) > 40
    assert calls(recorded_points(), phases[-1:]) <= calls(struck, phases)


@pytest.mark.parametrize("index", range(SPREAD))
def test_a_process_that_is_killed_once_is_followed_by_one_that_comes_to_the_same_end(url: str, index: int) -> None:
    point = spread(recorded_points(), SPREAD)[index]
    assert killed(url, [point]) == [point]


@pytest.mark.parametrize("index", range(SPREAD_ON_POSTGRESQL))
def test_on_postgresql_too(postgres_server: PostgresServer, index: int) -> None:
    point = spread(recorded_points(), SPREAD_ON_POSTGRESQL + 1)[index + 1]
    with postgres_server.fresh_database(hint="life") as url:
        assert killed(url, [point]) == [point]


def without_the_token(made: set[tuple[str, str, str]]) -> set[tuple[str, str, str]]:
    return {call for call in made if not call[1].endswith("/bcd-join")}


def clusters_part(points: Iterable[Point]) -> list[Point]:
    return [point for point in points if point.kind == CLUSTER]


@pytest.mark.controlplane
def test_a_life_on_a_real_api_asks_the_same_of_it_and_comes_to_the_same_end(
    url: str, real_cluster_api: RealCluster
) -> None:
    children = lives_on(url, lambda _point: False, real_cluster_api)
    reached = clusters_part(point for child in children for point in child.reached)
    recorded = clusters_part(recorded_points())
    assert calls(reached, PHASES) == calls(recorded, PHASES)
    for phase in PHASES:
        # Real time decides whether all have joined for a moment while more Nodes come: then the token goes and is made
        # anew.
        assert without_the_token(calls(reached, [phase])) == without_the_token(calls(recorded, [phase]))


@pytest.mark.controlplane
@pytest.mark.parametrize("phases", HALVES, ids="+".join)
def test_a_life_that_is_killed_at_each_of_its_requests_to_a_real_api_comes_to_the_same_end(
    url: str, real_cluster_api: RealCluster, phases: tuple[str, ...]
) -> None:
    struck, strike = kill_at_each(phases, {CLUSTER})
    lives_on(url, strike, real_cluster_api)
    assert calls(clusters_part(recorded_points()), phases) <= calls(struck, phases)


@pytest.mark.sweep
@pytest.mark.parametrize("index", range(CHUNKS))
def test_a_process_can_be_killed_at_every_single_place(index: int) -> None:
    for points in swept_lives()[index::CHUNKS]:
        with memory_folder() as folder:
            struck = killed(f"sqlite:///{folder / 'fleet.db'}", points)
        for point in points:
            # What a life does after it was killed may differ from one that never was, and so may its later places.
            if point not in struck:
                with memory_folder() as folder:
                    assert killed(f"sqlite:///{folder / 'fleet.db'}", [point]) == [point]
