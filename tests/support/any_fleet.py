# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Any documents, and anything that providers may hold for what was recorded of them: for tests of properties."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from ansible_collections.better_compute.fleet.plugins.module_utils._core.documents.load import parse_document
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.declared import FleetConfig
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.ids import PoolId
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.observed import (
    Difference,
    ObservedCluster,
    ObservedNodePool,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.states import ProviderStatus
from ansible_collections.better_compute.fleet.plugins.module_utils._core.planning import ObservedPool, Records
from ansible_collections.better_compute.fleet.tests.support.fleet_records import ZONES

REGION = "us-east-1"
TAINT = {"key": "gpu", "value": "x", "effect": "NoSchedule"}
OTHER_TAINT = {"key": "gpu", "effect": "NoExecute"}
DIFFERENCES = [
    Difference(path="totalNodes", held=7, wanted=4, in_place=True),
    Difference(path="autoscaling.maxNodes", held=7, wanted=4, in_place=True),
    Difference(path="machineType", held="m3", wanted="m1", in_place=False),
    Difference(path="spot", held=True, wanted=False, in_place=False),
]


def _named(names: str, item: Any) -> Any:
    """A list of items under some of these names, in any order."""
    return st.lists(st.sampled_from(names.split()), unique=True).flatmap(
        lambda chosen: st.tuples(*(item(name) for name in chosen)).map(list)
    )


def _site(name: str) -> Any:
    return st.fixed_dictionaries({"name": st.just(name), "kind": st.just("shared"), "region": st.sampled_from("ab")})


def _account(name: str, tenant: str) -> Any:
    role = st.sampled_from(["arn:aws:iam::111111111111:role/a", "arn:aws:iam::111111111111:role/b"])
    config = st.fixed_dictionaries(
        {
            "region": st.just(REGION),
            "eksClusterRoleArn": role,
            "eksNodeRoleArn": st.just("arn:aws:iam::111111111111:role/n"),
            "eksSubnetIds": st.permutations(["subnet-0000000a", "subnet-0000000b"]),
        },
        optional={"credential": st.sampled_from(["ambient", {"env": "A"}, {"env": "B"}])},
    )
    return st.fixed_dictionaries(
        {"name": st.just(name), "provider": st.just("aws"), "config": config, "tenantId": st.just(tenant)}
    )


def _mostly(value: Any, *others: Any) -> Any:
    """What is fixed, so that not every second plan is blocked."""
    return st.sampled_from([value] * 6 + list(others))


def _flavor(name: str) -> Any:
    return st.fixed_dictionaries(
        {"name": st.just(name), "machineType": _mostly("m1", "m2"), "nodes": st.integers(0, 3)},
        optional={
            # Bounds that hold any of the sizes above.
            "autoscaling": st.fixed_dictionaries({"minNodes": st.just(0), "maxNodes": st.integers(3, 5)}),
            "gpus": st.just({"type": "x", "count": 8}),
            "diskGiB": _mostly(100, 200),
            "zones": st.permutations(ZONES),
            "labels": _mostly({"a": "1", "b": "2"}, {"b": "2", "a": "1"}, {"a": "2"}, {}),
            "taints": _mostly([TAINT, OTHER_TAINT], [OTHER_TAINT, TAINT], [TAINT], []),
        },
    )


def _pool(name: str) -> Any:
    create = st.fixed_dictionaries(
        {"location": st.just(REGION)}, optional={"version": st.sampled_from(["1.32", "1.33", "1.33", "1.33", "1.34"])}
    )
    adopt = st.sampled_from([f"{REGION}/{name}", f"{REGION.upper()}/{name}", f"{REGION}/shared"])
    substrate = st.fixed_dictionaries(
        {
            "kind": st.just("kubernetes"),
            "account": st.sampled_from(["acct-a", "acct-a", "acct-b"]),
            # Now and then one pool is of both kinds in two documents; mostly it stays of one.
            "cluster": _mostly(*[False, True][:: -1 if name == "p3" else 1]).flatmap(
                lambda adopted: st.fixed_dictionaries({"adopt": adopt} if adopted else {"create": create})
            ),
            # A flavor's name that is also a tenant's must not be mistaken for it.
            "flavors": _named("f1 f2 platform", _flavor).filter(bool),
        },
        optional={"upgrades": st.sampled_from(["manual", "drain"])},
    )
    policy = st.fixed_dictionaries(
        {}, optional={"substrate": substrate, "kubernetes": st.fixed_dictionaries({"platformOperated": st.booleans()})}
    )
    return st.fixed_dictionaries(
        {
            "name": st.just(name),
            "site": st.sampled_from(["s1", "s1", "s2"]),
            "class": st.just("metal-host"),
            "gpuModel": st.just("H100"),
        },
        optional={"policy": policy},
    )


@st.composite
def documents(draw: st.DrawFn) -> FleetConfig:
    """Any valid document of a few names. One of its accounts, and the pools on it, may be another tenant's."""
    pools = draw(_named("p1 p2 p3", _pool))
    owner = {"acct-a": "platform", "acct-b": draw(st.sampled_from(["platform", "platform", "acme"]))}
    for pool in pools:
        substrate = pool.get("policy", {}).get("substrate")
        pool["tenantId"] = owner[substrate["account"]] if substrate else "platform"
    substrates = [pool.get("policy", {}).get("substrate") for pool in pools]
    _each_its_own_cluster(substrates)
    sites = {"s1", *draw(st.sets(st.just("s2")))} | {pool["site"] for pool in pools}
    accounts = draw(st.sets(st.sampled_from(["acct-a", "acct-b"]))) | {item["account"] for item in substrates if item}
    quotas = [
        {"tenantId": tenant, "pool": pool["name"], "gpus": draw(st.integers(0, 2))}
        for pool in pools
        for tenant in draw(st.sets(st.sampled_from(["platform", "acme"])))
    ]
    return parse_document(
        {
            "version": 1,
            "sites": [draw(_site(name)) for name in draw(st.permutations(sorted(sites)))],
            "providerAccounts": [draw(_account(name, owner[name])) for name in draw(st.permutations(sorted(accounts)))],
            "pools": pools,
            "quotas": quotas,
        }
    )


def _each_its_own_cluster(substrates: list[dict[str, Any] | None]) -> None:
    """No document has two pools that adopt one cluster."""
    taken: set[tuple[str, str]] = set()
    for number, substrate in enumerate(substrates):
        adopt = substrate["cluster"].get("adopt") if substrate else None
        if substrate and adopt:
            if (substrate["account"], adopt) in taken:
                substrate["cluster"]["adopt"] = f"{REGION}/own-{number}"
            taken.add((substrate["account"], adopt))


@st.composite
def drift(draw: st.DrawFn, records: Records) -> dict[PoolId, ObservedPool]:
    """What providers may hold for the recorded clusters: as recorded, gone, or changed by somebody."""
    seen = {}
    for cluster in records.clusters:
        rows = [row for row in records.node_pools if row.cluster_id == cluster.id]
        if cluster.substrate_pool_id is None or not draw(st.booleans()):
            continue
        there = [row.name for row in rows if draw(_mostly(True, False))]
        differences = {name: tuple(draw(st.sets(st.sampled_from(DIFFERENCES), max_size=2))) for name in there}
        status = draw(_mostly(ProviderStatus.ACTIVE, ProviderStatus.UPDATING))
        seen[cluster.substrate_pool_id] = ObservedPool(
            cluster=None if draw(_mostly(False, True)) else observed_cluster(private_nodes=draw(_mostly(False, True))),
            node_pools={name: _observed_node_pool(name, status) for name in there},
            differences=differences,
        )
    return seen


def observed_cluster(*, private_nodes: bool) -> ObservedCluster:
    """A cluster that is there."""
    return ObservedCluster(
        name="c", status=ProviderStatus.ACTIVE, message="", outputs=None, private_nodes=private_nodes, tags={}
    )


def _observed_node_pool(name: str, status: ProviderStatus) -> ObservedNodePool:
    """A node pool that is there; in what it is not as it is wanted, its differences say."""
    return ObservedNodePool(
        name=name, status=status, machine_type="m1", nodes=1, spot=False, disk_gib=20, labels={}, tags={}
    )
