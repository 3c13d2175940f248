# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The cases about clusters: made once, told truly, upgraded, reached, and gone."""

from __future__ import annotations

import dataclasses

import pytest

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import (
    InvalidRequest,
    NotFound,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.states import (
    ClusterMode,
    ProviderStatus,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.contract import (
    Deletion,
    NodePoolSpec,
)

from .flags import needs
from .life import FIRST, REPEATS, active_cluster, ensure_cluster, first_ones, is_version, smallest, standing
from .subject import Case, Subject


def a_cluster_is_made_once_however_often_it_is_wanted(subject: Subject) -> None:
    seen = [ensure_cluster(subject) for _time in range(REPEATS)]
    assert {cluster.status for cluster in seen} == {ProviderStatus.CREATING}
    assert subject.writes() == 1


def a_ready_cluster_says_where_and_what_it_is(subject: Subject) -> None:
    outputs = active_cluster(subject).outputs
    assert outputs is not None
    assert outputs.endpoint.startswith("https://")
    # Where the provider shows it with a credential only, it is empty here.
    assert not outputs.ca_pem or outputs.ca_pem.startswith("-----BEGIN CERTIFICATE-----")
    assert outputs.location == subject.cluster.location
    assert outputs.version
    assert outputs.node_version


def a_cluster_has_one_global_id_whoever_reads_it(subject: Subject) -> None:
    seen = [active_cluster(subject), ensure_cluster(subject), subject.open().get_cluster(subject.cluster)]
    ids = {cluster.outputs.global_id for cluster in seen if cluster is not None and cluster.outputs is not None}
    assert len(ids) == 1
    assert all(ids)


def a_cluster_carries_the_owners_marks(subject: Subject) -> None:
    assert subject.cluster.tags.items() <= active_cluster(subject).tags.items()


@needs(private_nodes=True)
def a_cluster_with_private_nodes_is_seen_as_one(subject: Subject) -> None:
    for private in (True, False):
        spec = dataclasses.replace(
            subject.cluster, name=f"{subject.cluster.name[:-1]}{int(private)}", private_nodes=private
        )
        assert active_cluster(subject, spec).private_nodes is private


def a_cluster_that_is_not_there_is_gone_and_holds_nothing(subject: Subject) -> None:
    driver = subject.open()
    assert driver.get_cluster(subject.cluster) is None
    assert driver.delete_cluster(subject.cluster) is Deletion.GONE
    assert driver.delete_node_pool(subject.cluster, "any", subject.cluster.tags) is Deletion.GONE
    driver.revoke_access(subject.cluster)
    with pytest.raises(NotFound):
        driver.get_node_pools(subject.cluster)
    with pytest.raises(NotFound):
        driver.ensure_node_pool(subject.cluster, subject.node_pool, None)
    assert subject.writes() == 0
    assert list(subject.leftovers()) == []


def a_cluster_elsewhere_is_refused_before_anything_is_sent(subject: Subject) -> None:
    elsewhere = dataclasses.replace(subject.cluster, location="nowhere-9")
    driver = subject.open()
    for refused in (driver.get_cluster, driver.delete_cluster, driver.get_node_pools):
        with pytest.raises(InvalidRequest):
            refused(elsewhere)
    with pytest.raises(InvalidRequest):
        driver.ensure_cluster(elsewhere, first_ones(subject))
    assert subject.calls() == 0


def a_cluster_of_a_version_that_there_is_not_is_refused(subject: Subject) -> None:
    with pytest.raises(InvalidRequest):
        ensure_cluster(subject, dataclasses.replace(subject.cluster, version="9.99"))
    subject.settle()
    assert list(subject.leftovers()) == []


def the_places_are_those_of_the_account(subject: Subject) -> None:
    places = subject.open().node_places()
    assert set(subject.node_pool.places) <= set(places)
    assert all(places.values())


def a_cluster_is_upgraded_step_by_step_and_never_made_older(subject: Subject) -> None:
    old, between, new = subject.versions
    active_cluster(subject, dataclasses.replace(subject.cluster, version=old))
    before = subject.writes()
    wanted = dataclasses.replace(subject.cluster, version=new)
    for step in (between, new):
        for _time in range(REPEATS):
            assert ensure_cluster(subject, wanted).status is ProviderStatus.UPDATING
        subject.settle()
        found = subject.open().get_cluster(wanted)
        assert found is not None
        assert found.outputs is not None
        assert is_version(found.outputs.version, step)
    assert subject.writes() == before + 2
    for version in (new, between, None):
        left_alone = ensure_cluster(subject, dataclasses.replace(subject.cluster, version=version))
        assert left_alone.status is ProviderStatus.ACTIVE
    assert subject.writes() == before + 2


def access_is_granted_used_and_taken_back(subject: Subject) -> None:
    cluster = active_cluster(subject)
    driver, before = subject.open(), subject.writes()
    for _time in range(REPEATS):
        driver.grant_access(subject.cluster)
    granted = subject.writes() > before
    subject.settle()
    access = driver.bootstrap_access(cluster)
    assert access.endpoint == (cluster.outputs and cluster.outputs.endpoint)
    assert access.ca_pem.startswith("-----BEGIN CERTIFICATE-----")
    assert access.token.reveal() not in repr(access)
    assert subject.accepts(access)
    before = subject.writes()
    for _time in range(REPEATS):
        driver.revoke_access(subject.cluster)
    subject.settle()
    # Where the provider gives the account its access, there is nothing to grant, and nothing is taken back.
    assert (subject.writes() > before) is granted
    assert subject.accepts(driver.bootstrap_access(cluster)) is not granted


def access_to_a_cluster_that_is_not_there_is_not_granted(subject: Subject) -> None:
    with pytest.raises(NotFound):
        subject.open().grant_access(subject.cluster)
    assert subject.writes() == 0


def a_cluster_without_an_endpoint_has_no_access(subject: Subject) -> None:
    cluster = ensure_cluster(subject)
    with pytest.raises(InvalidRequest):
        subject.open().bootstrap_access(cluster)


def _beginnings(subject: Subject) -> tuple[NodePoolSpec, NodePoolSpec]:
    """Two node pools that a cluster can be made with."""
    other = dataclasses.replace(subject.node_pool, name=FIRST, nodes=smallest(subject))
    return subject.node_pool, other


@needs(cluster_needs_nodes=True)
def a_cluster_that_needs_nodes_gets_its_first_ones_in_the_call_that_makes_it(subject: Subject) -> None:
    first = _beginnings(subject)
    for _time in range(REPEATS):
        assert subject.open().ensure_cluster(subject.cluster, first).status is ProviderStatus.CREATING
    assert subject.writes() == 1
    subject.settle()
    driver = subject.open()
    assert {pool.name for pool in driver.get_node_pools(subject.cluster)} == {spec.name for spec in first}
    for spec in first:
        found = standing(subject, spec.name)
        assert (found.status, found.nodes) == (ProviderStatus.ACTIVE, spec.nodes)
        assert driver.compare(spec, found) == ()
        assert driver.ensure_node_pool(subject.cluster, spec, found) == found
    assert subject.writes() == 1


@needs(cluster_needs_nodes=True)
def a_cluster_that_needs_nodes_is_not_made_without_any(subject: Subject) -> None:
    with pytest.raises(InvalidRequest):
        subject.open().ensure_cluster(subject.cluster)
    assert subject.writes() == 0


@needs(cluster_needs_nodes=False)
def first_nodes_of_a_cluster_that_needs_none_are_left_to_the_calls_that_make_node_pools(subject: Subject) -> None:
    subject.open().ensure_cluster(subject.cluster, _beginnings(subject))
    subject.settle()
    assert subject.open().get_node_pools(subject.cluster) == ()
    assert subject.writes() == 1


def first_nodes_are_not_added_to_a_cluster_that_is_there(subject: Subject) -> None:
    active_cluster(subject)
    before = subject.writes()
    there = subject.open().get_node_pools(subject.cluster)
    assert subject.open().ensure_cluster(subject.cluster, (subject.node_pool,)).status is ProviderStatus.ACTIVE
    assert subject.open().get_node_pools(subject.cluster) == there
    assert subject.writes() == before


@needs(autopilot=True)
def an_autopilot_cluster_has_no_node_pool_of_ours_and_stays_one(subject: Subject) -> None:
    wanted = dataclasses.replace(subject.cluster, mode=ClusterMode.AUTOPILOT)
    subject.open().ensure_cluster(wanted)
    subject.settle()
    made = subject.open().ensure_cluster(wanted)
    assert made.status is ProviderStatus.ACTIVE
    assert made.serves
    assert subject.writes() == 1
    with pytest.raises(InvalidRequest):
        ensure_cluster(subject)
    assert subject.writes() == 1
    subject.open().delete_cluster(wanted)
    subject.settle()
    assert subject.open().delete_cluster(wanted) is Deletion.GONE
    assert list(subject.leftovers()) == []


CLUSTERS: tuple[Case, ...] = (
    a_cluster_is_made_once_however_often_it_is_wanted,
    a_ready_cluster_says_where_and_what_it_is,
    a_cluster_has_one_global_id_whoever_reads_it,
    a_cluster_carries_the_owners_marks,
    a_cluster_with_private_nodes_is_seen_as_one,
    a_cluster_that_is_not_there_is_gone_and_holds_nothing,
    a_cluster_elsewhere_is_refused_before_anything_is_sent,
    a_cluster_of_a_version_that_there_is_not_is_refused,
    the_places_are_those_of_the_account,
    a_cluster_is_upgraded_step_by_step_and_never_made_older,
    access_is_granted_used_and_taken_back,
    access_to_a_cluster_that_is_not_there_is_not_granted,
    a_cluster_without_an_endpoint_has_no_access,
    a_cluster_that_needs_nodes_gets_its_first_ones_in_the_call_that_makes_it,
    a_cluster_that_needs_nodes_is_not_made_without_any,
    first_nodes_of_a_cluster_that_needs_none_are_left_to_the_calls_that_make_node_pools,
    first_nodes_are_not_added_to_a_cluster_that_is_there,
    an_autopilot_cluster_has_no_node_pool_of_ours_and_stays_one,
)
