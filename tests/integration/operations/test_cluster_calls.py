# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The kubernetesClusters calls on recorded accounts: what is recorded, what is refused, and what a repetition means."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.capabilities import CAPABILITIES
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import (
    Code,
    InvalidInput,
    OperationError,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.ids import (
    PLATFORM_TENANT,
    ClusterId,
    TenantId,
    new_account_id,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.records import ClusterRecord
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.states import (
    ClusterMode,
    ClusterState,
    NodePoolState,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.clusters.calls import (
    create_cluster,
    delete_cluster,
    get_cluster,
    list_clusters,
    upgrade_cluster,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.clusters.planning import (
    plan_clusters,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.clusters.wanted import WantedCluster
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.node_pools.deciding import Wish
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.node_pools.wanted import (
    WantedNodePool,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.store import clusters, fleet, work
from ansible_collections.better_compute.fleet.tests.support import rows
from ansible_collections.better_compute.fleet.tests.support.node_pool_desk import Desk

ACME = TenantId("acme")
OTHER = TenantId("other")
SYSTEM = WantedNodePool(name="system", machine_type="m7i.large", node_count=1, path="node_pools[0]")
NOBODYS = ClusterId("kcl_00000000000000000000000000")


def wanted(**different: Any) -> WantedCluster:
    """A cluster that can be created, on the platform's account."""
    return replace(WantedCluster(name="web", account="aws-main", location="eu-west-1"), **different)


def create(desk: Desk, tenant_id: TenantId = ACME, **different: Any) -> ClusterRecord:
    return create_cluster(desk.session, tenant_id=tenant_id, wanted=wanted(**different))


def set_status(desk: Desk, cluster: ClusterRecord, **status: Any) -> ClusterRecord:
    """What a pass would write back."""
    after = replace(cluster, **status)
    with desk.session.store.write() as tx:
        assert clusters.set_cluster_status(tx, after)
    return after


def refused(desk: Desk, act: Callable[[], object]) -> OperationError:
    """The refusal of a call that records nothing."""
    before = desk.rows()
    with pytest.raises(OperationError) as told:
        act()
    assert desk.rows() == before
    return told.value


def test_a_new_one_is_pending_and_its_pass_is_due(desk: Desk) -> None:
    made = create(desk, version="1.33", node_pools=(SYSTEM,))
    assert (made.state, made.mode, made.substrate_pool_id) == (ClusterState.PENDING, ClusterMode.STANDARD, None)
    assert (made.tenant_id, made.account_id, made.version) == (ACME, desk.account.id, "1.33")
    view = get_cluster(desk.session, tenant_id=ACME, cluster_id=made.id)
    assert view.record == made
    assert [(one.name, one.state, one.of_flavor) for one in view.node_pools] == [
        ("system", NodePoolState.PENDING, False)
    ]
    with desk.session.store.read() as tx:
        assert work.due_of(tx, made.id) == tx.now


def test_the_tenants_own_account_comes_before_the_platforms_of_the_same_name(desk: Desk) -> None:
    own = rows.account(id=new_account_id(rows.START), tenant_id=ACME)
    with desk.session.store.write() as tx:
        fleet.put_account(tx, own)
    assert create(desk).account_id == own.id
    assert create(desk, OTHER).account_id == desk.account.id


def test_an_account_of_another_tenants_is_not_found(desk: Desk) -> None:
    theirs = rows.account(id=new_account_id(rows.START), tenant_id=OTHER, name="theirs")
    with desk.session.store.write() as tx:
        fleet.put_account(tx, theirs)
    told = refused(desk, lambda: create(desk, account="theirs"))
    assert told.code == Code.NOT_FOUND


def test_each_tenant_reads_its_own_and_the_pools_owner_its_pools(desk: Desk) -> None:
    made = create(desk)
    assert [view.record.id for view in list_clusters(desk.session, tenant_id=ACME)] == [made.id]
    assert [view.pool for view in list_clusters(desk.session, tenant_id=PLATFORM_TENANT)] == ["gpu-fleet"]
    assert list_clusters(desk.session, tenant_id=OTHER) == ()
    calls: list[Callable[[], object]] = [
        lambda: get_cluster(desk.session, tenant_id=OTHER, cluster_id=made.id),
        lambda: upgrade_cluster(desk.session, tenant_id=OTHER, cluster_id=made.id, version="1.34"),
        lambda: delete_cluster(desk.session, tenant_id=OTHER, cluster_id=made.id),
        lambda: delete_cluster(desk.session, tenant_id=ACME, cluster_id=NOBODYS),
    ]
    assert {refused(desk, call).code for call in calls} == {Code.NOT_FOUND}


def test_a_name_that_another_tenant_has_there_is_a_conflict_that_does_not_say_whose(desk: Desk) -> None:
    create(desk)
    told = refused(desk, lambda: create(desk, OTHER))
    assert told.code == Code.CONFLICT
    assert str(told) == "the name 'web' is taken on provider account aws-main in eu-west-1: take another one"


def test_a_tenants_names_are_unique_until_one_is_deleted(desk: Desk) -> None:
    made = create(desk)
    assert refused(desk, lambda: create(desk)).code == Code.CONFLICT
    leaving = delete_cluster(desk.session, tenant_id=ACME, cluster_id=made.id)
    assert str(refused(desk, lambda: create(desk))).endswith("its name is free when it is gone")
    set_status(desk, leaving, state=ClusterState.DELETED)
    assert create(desk).id != made.id


def test_an_upgrade_is_recorded_once_and_makes_the_pass_due(desk: Desk) -> None:
    ready = set_status(desk, create(desk, version="1.33"), state=ClusterState.READY, observed_generation=1)
    raised = upgrade_cluster(desk.session, tenant_id=ACME, cluster_id=ready.id, version="1.34")
    assert (raised.version, raised.state, raised.generation) == ("1.34", ClusterState.UPDATING, 2)
    assert get_cluster(desk.session, tenant_id=ACME, cluster_id=ready.id).record == raised
    before = desk.rows()
    assert upgrade_cluster(desk.session, tenant_id=ACME, cluster_id=ready.id, version="1.34") == raised
    assert desk.rows() == before


@pytest.mark.parametrize(("version", "running"), [("1.34", None), ("1.33", "1.34"), (None, "1.34")])
def test_a_version_is_never_lowered(desk: Desk, version: str | None, running: str | None) -> None:
    outputs = None if running is None else replace(rows.OUTPUTS, version=running)
    made = set_status(desk, create(desk, version=version), state=ClusterState.READY, outputs=outputs)
    told = refused(desk, lambda: upgrade_cluster(desk.session, tenant_id=ACME, cluster_id=made.id, version="1.32"))
    assert isinstance(told, InvalidInput)
    assert str(told).startswith(f"version: is never lowered: leave it at {version or running} or above")


def test_a_wish_that_the_provider_has_gone_beyond_may_be_repeated(desk: Desk) -> None:
    made = set_status(desk, create(desk, version="1.32"), state=ClusterState.READY, outputs=rows.OUTPUTS)
    assert upgrade_cluster(desk.session, tenant_id=ACME, cluster_id=made.id, version="1.32") == made


def test_deleting_what_is_being_deleted_returns_it_unchanged_and_nothing_else_is_done_to_it(desk: Desk) -> None:
    made = create(desk)
    leaving = delete_cluster(desk.session, tenant_id=ACME, cluster_id=made.id)
    assert (leaving.state, leaving.generation) == (ClusterState.DELETING, 2)
    assert delete_cluster(desk.session, tenant_id=ACME, cluster_id=made.id) == leaving
    told = refused(desk, lambda: upgrade_cluster(desk.session, tenant_id=ACME, cluster_id=made.id, version="1.34"))
    assert told.code == Code.INVALID_STATE


def test_a_pools_cluster_is_changed_in_the_document_only(desk: Desk) -> None:
    of_pool = desk.cluster.id
    calls: list[Callable[[], object]] = [
        lambda: upgrade_cluster(desk.session, tenant_id=PLATFORM_TENANT, cluster_id=of_pool, version="1.34"),
        lambda: delete_cluster(desk.session, tenant_id=PLATFORM_TENANT, cluster_id=of_pool),
    ]
    for call in calls:
        told = refused(desk, call)
        assert told.code == Code.INVALID_STATE
        assert "is the one behind pool 'gpu-fleet': change it in the FleetConfig document" in str(told)


def test_names_of_pools_clusters_are_nobodys(desk: Desk) -> None:
    name = "bc-" + "0" * 26
    told = refused(desk, lambda: create(desk, name=name))
    assert isinstance(told, InvalidInput)


@pytest.mark.parametrize(
    ("provider", "config", "location", "different", "why"),
    [
        (
            "aws",
            {"region": "eu-west-1"},
            "eu-west-1",
            {"mode": ClusterMode.AUTOPILOT},
            "account else) has no autopilot",
        ),
        ("digitalocean", {"region": "nyc1"}, "nyc1", {"private_nodes": True}, "has no private nodes"),
    ],
)
def test_what_a_provider_or_this_version_lacks_is_unsupported(
    desk: Desk,
    provider: str,
    config: dict[str, Any],
    location: str,
    different: dict[str, Any],
    why: str,
) -> None:
    account = rows.account(id=new_account_id(rows.START), name="else", provider=provider, config=config)
    with desk.session.store.write() as tx:
        fleet.put_account(tx, account)
    told = refused(desk, lambda: create(desk, account="else", location=location, **different))
    assert told.code == Code.UNSUPPORTED
    assert why in str(told)


def test_every_problem_of_a_call_is_told_at_once(desk: Desk) -> None:
    bad = replace(SYSTEM, machine_type="M7I", path="node_pools[0]")
    told = refused(desk, lambda: create(desk, name="Web", version="1.34.1", node_pools=(bad,)))
    assert isinstance(told, InvalidInput)
    assert [problem.path for problem in told.problems] == ["name", "version", "node_pools[0].machine_type"]
    missing = refused(desk, lambda: create(desk, account=None, location=None))
    assert isinstance(missing, InvalidInput)
    assert [problem.path for problem in missing.problems] == ["account", "location"]
    elsewhere = refused(desk, lambda: create(desk, location="eu-west-2"))
    assert str(elsewhere).startswith("location: expected the account's region eu-west-1")


@pytest.mark.parametrize(
    "different",
    [
        {"mode": ClusterMode.AUTOPILOT},
        {"location": "eu-west-2"},
        {"account": "another"},
        {"private_nodes": True},
    ],
)
def test_mode_place_account_and_privacy_never_change(desk: Desk, different: dict[str, Any]) -> None:

    create(desk)
    told = refused(
        desk,
        lambda: plan_clusters(desk.session, tenant_id=ACME, wanted=[wanted(**different)], wish=Wish.PRESENT),
    )
    assert isinstance(told, InvalidInput)
    [problem] = told.problems
    assert problem.path in different
    assert problem.message == "never changes on a cluster that stands: delete it and create another"


def test_a_repeated_request_is_answered_with_what_the_first_one_made(desk: Desk) -> None:
    made = create(desk, idempotency_key="k", node_pools=(SYSTEM,))
    assert create(desk, idempotency_key="k", node_pools=(SYSTEM,)) == made
    assert len(list_clusters(desk.session, tenant_id=ACME)) == 1
    another = refused(desk, lambda: create(desk, idempotency_key="k"))
    assert another.code == Code.CONFLICT
    whose = create_cluster(
        desk.calling_as("bob").session, tenant_id=ACME, wanted=wanted(name="bobs", idempotency_key="k")
    )
    assert whose.id != made.id
    leaving = delete_cluster(desk.session, tenant_id=ACME, cluster_id=made.id)
    gone = set_status(desk, leaving, state=ClusterState.DELETED)
    assert create(desk, idempotency_key="k", node_pools=(SYSTEM,)) == gone


def test_node_pools_on_an_autopilot_cluster_are_an_invalid_state(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(CAPABILITIES, "aws", replace(CAPABILITIES["aws"], autopilot=True))
    told = refused(desk, lambda: create(desk, mode=ClusterMode.AUTOPILOT, node_pools=(SYSTEM,)))
    assert told.code == Code.INVALID_STATE
    assert "autopilot cluster: the provider runs its nodes" in str(told)
    made = create(desk, mode=ClusterMode.AUTOPILOT)
    assert made.mode == ClusterMode.AUTOPILOT


def test_more_node_pools_than_a_cluster_takes_are_refused_with_the_cluster(desk: Desk) -> None:
    many = tuple(replace(SYSTEM, name=f"n{number}", path=f"node_pools[{number}]") for number in range(11))
    assert refused(desk, lambda: create(desk, node_pools=many)).code == Code.QUOTA_EXCEEDED


@pytest.mark.parametrize("name", ["", "a b", "x" * 129, "nul\0"])
def test_a_tenants_name_that_is_none_is_told_before_it_is_asked_for(desk: Desk, name: str) -> None:
    assert isinstance(refused(desk, lambda: create(desk, TenantId(name))), InvalidInput)
