# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Plans with a cluster to adopt: what is recorded of it, how it reads, its id as the substrate's identity."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import InvalidInput
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.states import ClusterState
from ansible_collections.better_compute.fleet.plugins.module_utils._core.planning import ObservedPool, Records
from ansible_collections.better_compute.fleet.plugins.module_utils._core.planning.declared_again import declared_again
from ansible_collections.better_compute.fleet.plugins.module_utils._core.planning.desired import desired_rows
from ansible_collections.better_compute.fleet.plugins.module_utils._core.planning.drift_report import drift_report
from ansible_collections.better_compute.fleet.plugins.module_utils._core.planning.planner import plan
from ansible_collections.better_compute.fleet.tests.support.any_fleet import observed_cluster
from ansible_collections.better_compute.fleet.tests.support.fleet_documents import changed, example, on_account, put
from ansible_collections.better_compute.fleet.tests.support.fleet_records import PLACES, converged, written
from ansible_collections.better_compute.fleet.tests.support.planned_fleet import SUBSTRATE, planned, recorded, told
from ansible_collections.better_compute.fleet.tests.support.rows import OUTPUTS, START

PATH = "policy.substrate.cluster"
UUID = "bd5f5959-5e1e-4205-a714-a914373942af"


def adopting(cluster_id: str) -> dict[str, Any]:
    return changed(f"{SUBSTRATE}.cluster", {"adopt": cluster_id})


def adopting_elsewhere(provider: str, cluster_id: str, **config: Any) -> dict[str, Any]:
    data = on_account(provider, "", {"machineType": "m", "nodes": 2}, **config)
    result: dict[str, Any] = put(data, f"{SUBSTRATE}.cluster", {"adopt": cluster_id})
    return result


@pytest.fixture
def adopted() -> Records:
    """The records once the pool's cluster was adopted, and all is as it should be."""
    return converged(recorded(adopting("us-east-1/prod")))


def test_an_adopted_cluster_is_recorded_as_its_owner_calls_it_and_its_node_pools_by_the_pool(adopted: Records) -> None:
    (pool,), (cluster,), (substrate,) = adopted.pools, adopted.clusters, adopted.substrates
    assert (cluster.name, cluster.location, cluster.adopted) == ("prod", "us-east-1", True)
    assert (cluster.version, cluster.private_nodes, cluster.global_id) == (None, False, None)
    assert (cluster.substrate_pool_id, substrate.mode) == (pool.id, "adopt")
    assert {row.name for row in adopted.node_pools} == {f"bc-{pool.id[-6:]}-h100", f"bc-{pool.id[-6:]}-h100-spot"}
    assert {row.shape.name for row in adopted.node_pools} == {"h100", "h100-spot"}


@pytest.mark.parametrize(
    ("provider", "cluster_id", "name", "location"),
    [
        ("gcp", "us-central1/prod", "prod", "us-central1"),
        ("gcp", "us-central1-a/prod", "prod", "us-central1-a"),
        ("digitalocean", UUID, UUID, "nyc1"),
    ],
)
def test_each_provider_has_its_own_kind_of_name_and_place(
    provider: str, cluster_id: str, name: str, location: str
) -> None:
    (cluster,) = recorded(adopting_elsewhere(provider, cluster_id)).clusters
    assert (cluster.name, cluster.location, cluster.adopted) == (name, location, True)


def test_an_adoption_reads_as_one_and_counts_as_one() -> None:
    made = planned(adopting("us-east-1/prod"), Records(), zones={"managed-k8s": ("us-east-1a", "us-east-1b")})
    assert told(made)[-4:-1] == [
        "adopt cluster gpu-fleet",
        "create node_pool gpu-fleet/h100",
        "create node_pool gpu-fleet/h100-spot",
    ]
    assert (made.totals["create"], made.totals["adopt"], made.totals["give_back"]) == (6, 1, 0)
    assert made.changed
    text = made.render()
    assert text.startswith("Fleet plan at serial 0: 6 to create, 1 to adopt\n")
    assert (
        "  > cluster\n"
        "      adopt cluster us-east-1/prod: it is read, and never created, changed or deleted\n"
        "      policy.substrate.account        managed-k8s\n"
        "      policy.substrate.cluster.adopt  us-east-1/prod\n"
        "      policy.substrate.upgrades       manual\n"
        "  + node pool h100\n"
        "      called bc-<last 6 of the pool's id>-h100 on the adopted cluster\n"
    ) in text
    assert text.endswith("\nPlan: 6 to create, 1 to adopt.\n")
    (cluster,) = (change for change in made.to_data()["changes"] if change["resource"] == "cluster")
    assert (cluster["kind"], cluster["note"]) == (
        "adopt",
        "adopt cluster us-east-1/prod: it is read, and never created, changed or deleted",
    )
    assert "cluster gpu-fleet" in made.diff()["after"]
    assert "cluster gpu-fleet" not in made.diff()["before"]


@pytest.mark.parametrize("whole", [True, False])
def test_the_end_of_it_reads_as_giving_back_what_was_never_ours(adopted: Records, *, whole: bool) -> None:
    data = example() | {"pools": [], "quotas": []}
    if not whole:
        data = example()
        del data["pools"][0]["policy"]["substrate"]
    (pool,) = adopted.pools
    made = planned(data, adopted, prune=True)
    assert "give_back cluster gpu-fleet" in told(made)
    assert "delete cluster gpu-fleet" not in told(made)
    assert made.totals["give_back"] == 1
    names = f"bc-{pool.id[-6:]}-h100, bc-{pool.id[-6:]}-h100-spot"
    (cluster,) = (change for change in made.changes if change.resource == "cluster")
    assert cluster.note == (
        f"give back cluster us-east-1/prod: only our node pools ({names}), bcd and our own access go; once its "
        "bookings have ended: nothing is force-released"
    )
    assert "1 to give back" in made.render()
    assert "cluster gpu-fleet" not in made.diff()["after"]
    writes = desired_rows(made, adopted, now=START)
    assert [row.state for row in writes.substrates] == ["deleting"]
    assert [row.intent for row in writes.pools] == ["tear_down"]
    after = written(adopted, writes)
    assert not planned(data, after, prune=True).changed


def test_without_prune_it_is_kept(adopted: Records) -> None:
    data = example()
    del data["pools"][0]["policy"]["substrate"]
    assert told(planned(data, adopted)) == ["keep cluster gpu-fleet"]


def test_the_same_cluster_in_another_spelling_is_no_change(adopted: Records) -> None:
    assert planned(adopting("US-EAST-1/prod"), adopted).changes == ()


def test_what_is_recorded_amounts_to_a_document_that_changes_nothing(adopted: Records) -> None:
    assert plan(declared_again(adopted), adopted, zones={}, prune=True).changes == ()


def test_another_cluster_is_another_pool(adopted: Records) -> None:
    made = planned(adopting("us-east-1/other"), adopted)
    assert told(made) == ["blocked cluster gpu-fleet"]
    assert made.changes[0].note == f"{PATH}.adopt cannot change in place: create a new pool instead"
    assert [(field.before, field.after) for field in made.changes[0].fields] == [("us-east-1/prod", "us-east-1/other")]


def test_a_cluster_that_was_made_is_never_adopted_instead(records: Records) -> None:
    made = planned(adopting("us-east-1/prod"), records)
    assert told(made) == ["blocked cluster gpu-fleet"]
    assert f"{PATH}.adopt cannot change in place: create a new pool instead" in made.changes[0].note


def test_a_cluster_that_was_adopted_is_never_made_instead(adopted: Records) -> None:
    made = planned(example(), adopted)
    assert told(made) == ["blocked cluster gpu-fleet"]
    assert f"{PATH}.adopt cannot change in place: create a new pool instead" in made.changes[0].note


def test_flavors_of_an_adopted_cluster_change_come_and_go_as_any(adopted: Records) -> None:
    (pool,) = adopted.pools
    data = adopting("us-east-1/prod")
    put(data, f"{SUBSTRATE}.flavors.0.nodes", 3)
    flavors = data["pools"][0]["policy"]["substrate"]["flavors"]
    flavors[1] = flavors[1] | {"name": "l4"}
    put(data, f"{SUBSTRATE}.upgrades", "drain")
    made = planned(data, adopted, prune=True)
    assert told(made) == [
        "update cluster gpu-fleet",
        "update node_pool gpu-fleet/h100",
        "create node_pool gpu-fleet/l4",
        "delete node_pool gpu-fleet/h100-spot",
    ]
    assert made.changes[2].note == f"called bc-{pool.id[-6:]}-l4 on the adopted cluster"
    after = written(adopted, desired_rows(made, adopted, now=START))
    states = {row.name.removeprefix(f"bc-{pool.id[-6:]}-"): row.state for row in after.node_pools}
    assert states == {"h100": "updating", "h100-spot": "deleting", "l4": "pending"}
    assert not planned(data, after, prune=True).changed


def test_a_name_that_is_too_long_on_an_adopted_cluster_is_refused_with_its_path() -> None:
    data = put(adopting_elsewhere("gcp", "us-central1/prod"), f"{SUBSTRATE}.flavors.0.name", "f" * 31)
    with pytest.raises(InvalidInput) as caught:
        planned(data, Records())
    assert [problem.path for problem in caught.value.problems] == ["pools[0].policy.substrate.flavors[0].name"]


def test_what_an_adopted_cluster_is_like_is_no_drift_and_its_node_pools_still_are_looked_at(adopted: Records) -> None:
    (pool,) = adopted.pools
    seen = {pool.id: ObservedPool(cluster=observed_cluster(private_nodes=True))}
    made = planned(adopting("us-east-1/prod"), adopted, observed=seen)
    assert told(made) == ["create node_pool gpu-fleet/h100", "create node_pool gpu-fleet/h100-spot"]
    assert made.warnings == ()
    after = written(adopted, desired_rows(made, adopted, now=START))
    assert {row.state for row in after.node_pools} == {"pending"}
    assert [row.state for row in after.clusters] == [ClusterState.UPDATING]


def test_an_adopted_cluster_that_is_gone_is_told_and_never_made_again(adopted: Records) -> None:
    (pool,) = adopted.pools
    seen = {pool.id: ObservedPool(cluster=None)}
    made = planned(adopting("us-east-1/prod"), adopted, observed=seen)
    assert made.changes == ()
    (warning,) = made.warnings
    assert warning.startswith("pool gpu-fleet: cluster prod, which it adopted, is not at the provider any more")
    again = plan(declared_again(adopted), adopted, zones={}, prune=False, observed=seen)
    (report,) = drift_report(again, adopted, observed=seen, unseen={})
    assert [(field.path, field.recorded, field.provider, field.repaired) for field in report.fields] == [
        ("exists", True, False, False)
    ]


def test_the_zones_of_an_adopted_gke_cluster_count_once_it_was_read_whatever_the_account_names() -> None:
    data = adopting_elsewhere("gcp", "us-central1/prod", zones=["us-central1-a"])
    made = planned(data, Records(), zones={"managed-k8s": ("us-central1-a",)})
    assert [size.total for size in made.sizes] == [None]
    (warning,) = made.warnings
    assert "each of the zones of cluster us-central1/prod, which are known once the cluster was read" in warning
    records = recorded(data)
    (cluster,) = records.clusters
    read = replace(OUTPUTS, zones=("us-central1-a", "us-central1-b", "us-central1-f"))
    records = replace(records, clusters=(replace(cluster, outputs=read),))
    made = planned(data, records, zones={"managed-k8s": ("us-central1-a",)})
    assert ([size.total for size in made.sizes], made.warnings) == ([6], ())
    pinned = put(data, f"{SUBSTRATE}.flavors.0.zones", ["us-central1-a"])
    made = planned(pinned, Records(), zones={"managed-k8s": ("us-central1-a",)})
    assert ([size.total for size in made.sizes], made.warnings) == ([2], ())


def test_an_adopted_eks_cluster_counts_over_the_accounts_subnets_and_doks_counts_the_total() -> None:
    records = converged(recorded(adopting("us-east-1/prod")))
    assert len(set(PLACES.values())) == 2
    assert [size.total for size in planned(adopting("us-east-1/prod"), records).sizes] == [4, 2]
    assert [size.total for size in planned(adopting_elsewhere("digitalocean", UUID), Records()).sizes] == [2]
