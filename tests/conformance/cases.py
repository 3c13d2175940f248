# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The cases. Each is a function of a subject at which nothing exists yet, and is named for what it asks."""

from __future__ import annotations

import dataclasses

import pytest

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.declared import Taint
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import (
    AlreadyExists,
    InvalidRequest,
    NotFound,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.labels import CLUSTER
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.observed import NodeBounds
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.states import ProviderStatus
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.contract import Deletion

from .changes import CHANGES
from .life import active_cluster, active_node_pool, bring_up, count_node_pools, node_pool, tear_down
from .subject import Breakage, Case, Subject

_REPEATS = 10


def _others(subject: Subject) -> dict[str, str]:
    """The marks of an earlier cluster of the same pool: all but one are ours, and it is still a stranger's."""
    return {**subject.cluster.tags, CLUSTER: "kcl_00000000000000000000000000"}


def a_cluster_is_made_once_however_often_it_is_wanted(subject: Subject) -> None:
    seen = [subject.open().ensure_cluster(subject.cluster) for _time in range(_REPEATS)]
    assert {cluster.status for cluster in seen} == {ProviderStatus.CREATING}
    assert subject.writes() == 1


def a_ready_cluster_says_where_and_what_it_is(subject: Subject) -> None:
    outputs = active_cluster(subject).outputs
    assert outputs is not None
    assert outputs.endpoint.startswith("https://")
    assert outputs.ca_pem.startswith("-----BEGIN CERTIFICATE-----")
    assert outputs.location == subject.cluster.location
    assert outputs.version
    assert outputs.node_version


def a_cluster_carries_the_owners_marks(subject: Subject) -> None:
    assert subject.cluster.tags.items() <= active_cluster(subject).tags.items()


def a_cluster_that_is_not_there_is_gone_and_holds_nothing(subject: Subject) -> None:
    driver = subject.open()
    assert driver.get_cluster(subject.cluster) is None
    assert driver.delete_cluster(subject.cluster) is Deletion.GONE
    assert driver.delete_node_pool(subject.cluster, "any", subject.cluster.tags) is Deletion.GONE
    driver.revoke_access(subject.cluster)
    for refused in (driver.get_node_pools, driver.grant_access):
        with pytest.raises(NotFound):
            refused(subject.cluster)
    assert subject.writes() == 0


def a_cluster_elsewhere_is_refused_before_anything_is_sent(subject: Subject) -> None:
    elsewhere = dataclasses.replace(subject.cluster, location="nowhere-9")
    driver = subject.open()
    for refused in (driver.ensure_cluster, driver.get_cluster, driver.delete_cluster, driver.get_node_pools):
        with pytest.raises(InvalidRequest):
            refused(elsewhere)
    assert subject.calls() == 0


def the_places_are_those_of_the_account(subject: Subject) -> None:
    places = subject.open().node_places()
    assert set(subject.node_pool.places) <= set(places)
    assert all(places.values())


def a_node_pool_is_made_once_however_often_it_is_wanted(subject: Subject) -> None:
    active_cluster(subject)
    before = subject.writes()
    for _time in range(_REPEATS):
        driver = subject.open()
        observed = node_pool(driver, subject.cluster, subject.node_pool.name)
        assert driver.ensure_node_pool(subject.cluster, subject.node_pool, observed).status is ProviderStatus.CREATING
        driver.ensure_node_pool(subject.cluster, subject.node_pool, None)
    assert len(subject.open().get_node_pools(subject.cluster)) == 1
    assert subject.writes() - before <= _REPEATS + 1  # a create that its idempotency token answers counts as a write
    subject.settle()
    assert len(subject.open().get_node_pools(subject.cluster)) == 1


def a_ready_node_pool_is_as_it_was_wanted(subject: Subject) -> None:
    observed, wanted = active_node_pool(subject), subject.node_pool
    assert (observed.machine_type, observed.nodes) == (wanted.machine_type, wanted.nodes)
    assert (observed.spot, observed.disk_gib) == (wanted.spot, wanted.disk_gib)
    assert wanted.labels.items() <= observed.labels.items()
    assert wanted.tags.items() <= observed.tags.items()
    assert observed.failure is None


def a_spot_node_pool_is_seen_as_one(subject: Subject) -> None:
    active_cluster(subject)
    driver = subject.open()
    if not driver.capabilities.spot:
        pytest.skip("this provider has no Spot node pools")
    driver.ensure_node_pool(subject.cluster, dataclasses.replace(subject.node_pool, spot=True), None)
    observed = node_pool(driver, subject.cluster, subject.node_pool.name)
    assert observed is not None
    assert observed.spot


def what_is_converged_is_only_read(subject: Subject) -> None:
    active_node_pool(subject)
    before = subject.writes()
    driver = subject.open()
    driver.ensure_cluster(subject.cluster)
    observed = node_pool(driver, subject.cluster, subject.node_pool.name)
    assert driver.ensure_node_pool(subject.cluster, subject.node_pool, observed) == observed
    assert subject.writes() == before


def a_node_pool_is_resized_in_place_with_one_write(subject: Subject) -> None:
    driver = subject.open()
    observed = active_node_pool(subject)
    for nodes in (observed.nodes + 3, 1, 0 if driver.capabilities.zero_nodes else 1, 2):
        if nodes == observed.nodes:
            continue
        before = subject.writes()
        wanted = dataclasses.replace(subject.node_pool, nodes=nodes)
        assert driver.ensure_node_pool(subject.cluster, wanted, observed).nodes == nodes
        subject.settle()
        found = node_pool(driver, subject.cluster, wanted.name)
        assert found is not None
        assert (found.status, found.nodes) == (ProviderStatus.ACTIVE, nodes)
        assert driver.ensure_node_pool(subject.cluster, wanted, found) == found
        assert subject.writes() == before + 1
        observed = found


def a_node_pool_never_changes_its_shape(subject: Subject) -> None:
    observed, wanted = active_node_pool(subject), subject.node_pool
    before = subject.calls()
    driver = subject.open()
    for other in (
        dataclasses.replace(wanted, machine_type=subject.other_machine_type),
        dataclasses.replace(wanted, spot=not wanted.spot),
        dataclasses.replace(wanted, disk_gib=(wanted.disk_gib or 0) + 1),
        dataclasses.replace(wanted, gpus_per_node=0),
        dataclasses.replace(wanted, places=wanted.places[:1]),
        dataclasses.replace(wanted, machine_type=subject.other_machine_type, nodes=wanted.nodes + 1),
    ):
        assert not all(item.in_place for item in driver.compare(other, observed))
        with pytest.raises(InvalidRequest):
            driver.ensure_node_pool(subject.cluster, other, observed)
    assert subject.calls() == before


def a_strangers_cluster_is_never_touched(subject: Subject) -> None:
    subject.open().ensure_cluster(
        dataclasses.replace(subject.cluster, tags=_others(subject), version=subject.versions[0])
    )
    subject.settle()
    before, there = subject.writes(), subject.leftovers()
    driver = subject.open()
    for refused in (driver.ensure_cluster, driver.get_cluster, driver.delete_cluster, driver.grant_access):
        with pytest.raises(AlreadyExists):
            refused(dataclasses.replace(subject.cluster, version=subject.versions[2]))
    assert (subject.writes(), subject.leftovers()) == (before, there)


def a_strangers_node_pool_is_listed_and_never_touched(subject: Subject) -> None:
    active_cluster(subject)
    driver, mine = subject.open(), subject.node_pool
    driver.ensure_node_pool(subject.cluster, dataclasses.replace(mine, tags=_others(subject)), None)
    subject.settle()
    before, there = subject.writes(), subject.leftovers()
    observed = node_pool(driver, subject.cluster, mine.name)
    assert observed is not None
    for seen in (observed, None):
        with pytest.raises(AlreadyExists):
            driver.ensure_node_pool(subject.cluster, dataclasses.replace(mine, nodes=mine.nodes + 1), seen)
        with pytest.raises(AlreadyExists):
            driver.ensure_node_pool(subject.cluster, dataclasses.replace(mine, version=subject.versions[2]), seen)
    with pytest.raises(AlreadyExists):
        driver.delete_node_pool(subject.cluster, mine.name, mine.tags)
    assert (subject.writes(), subject.leftovers()) == (before, there)


def what_is_deleted_over_and_over_goes_once(subject: Subject) -> None:
    active_node_pool(subject)
    before = subject.writes()

    def delete_node_pool() -> Deletion:
        return subject.open().delete_node_pool(subject.cluster, subject.node_pool.name, subject.node_pool.tags)

    assert {delete_node_pool() for _time in range(_REPEATS)} == {Deletion.UNDER_WAY}
    subject.settle()
    assert {delete_node_pool() for _time in range(_REPEATS)} == {Deletion.GONE}

    def delete_cluster() -> Deletion:
        return subject.open().delete_cluster(subject.cluster)

    assert {delete_cluster() for _time in range(_REPEATS)} == {Deletion.UNDER_WAY}
    subject.settle()
    assert {delete_cluster() for _time in range(_REPEATS)} == {Deletion.GONE}
    assert subject.writes() == before + 2
    assert list(subject.leftovers()) == []


def access_is_granted_used_and_taken_back(subject: Subject) -> None:
    cluster = active_cluster(subject)
    driver = subject.open()
    for _time in range(2):
        driver.grant_access(subject.cluster)
    access = driver.bootstrap_access(cluster)
    assert access.endpoint == (cluster.outputs and cluster.outputs.endpoint)
    assert subject.accepts(access)
    for _time in range(2):
        driver.revoke_access(subject.cluster)
    assert not subject.accepts(driver.bootstrap_access(cluster))


def a_cluster_without_an_endpoint_has_no_access(subject: Subject) -> None:
    driver = subject.open()
    cluster = driver.ensure_cluster(subject.cluster)
    with pytest.raises(InvalidRequest):
        driver.bootstrap_access(cluster)


def a_life_leaves_nothing(subject: Subject) -> None:
    bring_up(subject, subject.node_pool)
    tear_down(subject)
    assert list(subject.leftovers()) == []


def _a_broken_call_does_no_harm(subject: Subject, breakage: Breakage) -> None:
    """Break the first call of a whole life, then the second of another, … until a life ends before the break comes."""
    old, new = subject.versions[:2]
    first = dataclasses.replace(subject.node_pool, nodes=2)
    grown = dataclasses.replace(
        first,
        nodes=3,
        bounds=NodeBounds(least=3, most=9),
        labels={**first.labels, "team": "blue"},
        labels_declared=True,
        taints=(Taint(key="team", effect="NoSchedule", value="blue"),),
        version=new,
    )
    nth, used = 0, 1
    while nth < used:
        nth += 1
        before = subject.calls()
        subject.break_call(nth, breakage)
        bring_up(subject, first, version=old)
        bring_up(subject, grown, version=new)
        assert count_node_pools(subject) == 1
        tear_down(subject)
        assert list(subject.leftovers()) == []
        used = subject.calls() - before
    assert nth > 10


def a_lost_reply_does_no_harm_at_any_call(subject: Subject) -> None:
    _a_broken_call_does_no_harm(subject, Breakage.LOST_REPLY)


def throttling_does_no_harm_at_any_call(subject: Subject) -> None:
    _a_broken_call_does_no_harm(subject, Breakage.THROTTLED)


def a_server_error_does_no_harm_at_any_call(subject: Subject) -> None:
    _a_broken_call_does_no_harm(subject, Breakage.SERVER_ERROR)


CASES: tuple[Case, ...] = (
    a_cluster_is_made_once_however_often_it_is_wanted,
    a_ready_cluster_says_where_and_what_it_is,
    a_cluster_carries_the_owners_marks,
    a_cluster_that_is_not_there_is_gone_and_holds_nothing,
    a_cluster_elsewhere_is_refused_before_anything_is_sent,
    the_places_are_those_of_the_account,
    a_node_pool_is_made_once_however_often_it_is_wanted,
    a_ready_node_pool_is_as_it_was_wanted,
    a_spot_node_pool_is_seen_as_one,
    what_is_converged_is_only_read,
    a_node_pool_is_resized_in_place_with_one_write,
    a_node_pool_never_changes_its_shape,
    *CHANGES,
    a_strangers_cluster_is_never_touched,
    a_strangers_node_pool_is_listed_and_never_touched,
    what_is_deleted_over_and_over_goes_once,
    access_is_granted_used_and_taken_back,
    a_cluster_without_an_endpoint_has_no_access,
    a_life_leaves_nothing,
    a_lost_reply_does_no_harm_at_any_call,
    throttling_does_no_harm_at_any_call,
    a_server_error_does_no_harm_at_any_call,
)
