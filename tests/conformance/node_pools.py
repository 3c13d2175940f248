# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The cases about node pools: made once and as wanted, of a size and a shape, and gone."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import pytest

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import InvalidRequest
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.labels import CAPACITY, SPOT
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.observed import NodeBounds
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.states import ProviderStatus
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.contract import (
    Deletion,
    NodePoolSpec,
)

from .flags import needs, needs_of_the_subject
from .life import (
    REPEATS,
    active_cluster,
    active_node_pool,
    changed,
    count_node_pools,
    ensure_cluster,
    node_pool,
    smallest,
    standing,
)
from .subject import Case, HasOtherShapes, Subject


def a_node_pool_is_made_once_however_often_it_is_wanted(subject: Subject) -> None:
    active_cluster(subject)
    before = subject.writes()
    for _time in range(REPEATS):
        driver = subject.open()
        observed = node_pool(driver, subject.cluster, subject.node_pool.name)
        assert driver.ensure_node_pool(subject.cluster, subject.node_pool, observed).status is ProviderStatus.CREATING
        driver.ensure_node_pool(subject.cluster, subject.node_pool, None)
    assert count_node_pools(subject) == 1
    assert subject.writes() - before <= REPEATS + 1  # a create that its idempotency token answers counts as a write
    subject.settle()
    assert count_node_pools(subject) == 1


def a_ready_node_pool_is_as_it_was_wanted(subject: Subject) -> None:
    observed, wanted = active_node_pool(subject), subject.node_pool
    assert (observed.machine_type, observed.nodes) == (wanted.machine_type, wanted.nodes)
    assert observed.spot == wanted.spot
    if wanted.disk_gib is not None:
        assert observed.disk_gib == wanted.disk_gib
    assert wanted.labels.items() <= observed.labels.items()
    assert wanted.tags.items() <= observed.tags.items()
    assert observed.failure is None


@needs(spot=True)
def a_spot_node_pool_is_seen_as_one(subject: Subject) -> None:
    labels = {**subject.node_pool.labels, CAPACITY: SPOT}
    observed = active_node_pool(subject, dataclasses.replace(subject.node_pool, spot=True, labels=labels))
    assert observed.spot
    assert labels.items() <= observed.labels.items()


@needs(zones=True)
def a_node_pool_is_put_only_into_the_places_that_it_names(subject: Subject) -> None:
    place = subject.node_pool.places[0]
    wanted = dataclasses.replace(subject.node_pool, places=(place,))
    assert active_node_pool(subject, wanted).places == {place}


def a_node_pool_of_machines_that_there_are_not_is_refused(subject: Subject) -> None:
    active_cluster(subject)
    before = subject.leftovers()
    with pytest.raises(InvalidRequest):
        subject.open().ensure_node_pool(
            subject.cluster, dataclasses.replace(subject.node_pool, machine_type="no-such-machine"), None
        )
    subject.settle()
    assert count_node_pools(subject) == 0
    assert subject.leftovers() == before


def what_is_converged_is_only_read(subject: Subject) -> None:
    active_node_pool(subject)
    before = subject.writes()
    for _time in range(REPEATS):
        assert ensure_cluster(subject).status is ProviderStatus.ACTIVE
        observed = standing(subject)
        assert subject.open().ensure_node_pool(subject.cluster, subject.node_pool, observed) == observed
    assert subject.writes() == before


def a_node_pool_is_resized_in_place(subject: Subject) -> None:
    observed, step = active_node_pool(subject), smallest(subject)
    for nodes in (observed.nodes + 3 * step, step, 2 * step):
        assert changed(subject, dataclasses.replace(subject.node_pool, nodes=nodes), "totalNodes").nodes == nodes


@needs(zero_nodes=True)
def a_node_pool_goes_to_no_nodes_and_comes_back(subject: Subject) -> None:
    active_node_pool(subject)
    for nodes in (0, smallest(subject)):
        assert changed(subject, dataclasses.replace(subject.node_pool, nodes=nodes), "totalNodes").nodes == nodes


@needs(zero_nodes=True)
def a_node_pool_is_made_without_nodes(subject: Subject) -> None:
    assert active_node_pool(subject, dataclasses.replace(subject.node_pool, nodes=0)).nodes == 0


@needs(zero_nodes=False)
def a_node_pool_of_a_fixed_size_is_never_without_nodes(subject: Subject) -> None:
    active_cluster(subject)
    none = dataclasses.replace(subject.node_pool, nodes=0)
    with pytest.raises(InvalidRequest):
        subject.open().ensure_node_pool(subject.cluster, none, None)
    assert count_node_pools(subject) == 0
    observed = active_node_pool(subject)
    with pytest.raises(InvalidRequest):
        subject.open().ensure_node_pool(subject.cluster, none, observed)
    subject.settle()
    assert standing(subject).nodes == subject.node_pool.nodes


def a_node_pool_with_an_autoscaler_may_be_made_without_nodes(subject: Subject) -> None:
    bounds = NodeBounds(least=0, most=3 * smallest(subject))
    wanted = dataclasses.replace(subject.node_pool, nodes=0, bounds=bounds)
    observed = active_node_pool(subject, wanted)
    assert (observed.nodes, observed.bounds) == (0, bounds)
    before = subject.writes()
    assert subject.open().ensure_node_pool(subject.cluster, wanted, observed) == observed
    assert subject.writes() == before


def _never_becomes(subject: Subject, shapes: Sequence[NodePoolSpec]) -> None:
    """Make the node pool, and want the shapes of it: each is told and refused, and nothing is sent."""
    observed = active_node_pool(subject)
    before = subject.calls()
    driver = subject.open()
    for shape in shapes:
        for other in (shape, dataclasses.replace(shape, nodes=shape.nodes + smallest(subject))):
            assert not all(item.in_place for item in driver.compare(other, observed))
            with pytest.raises(InvalidRequest):
                driver.ensure_node_pool(subject.cluster, other, observed)
    assert subject.calls() == before


def a_node_pool_never_changes_its_machine_type(subject: Subject) -> None:
    _never_becomes(subject, [dataclasses.replace(subject.node_pool, machine_type=subject.other_machine_type)])


@needs(spot=True)
def a_node_pool_never_becomes_spot(subject: Subject) -> None:
    _never_becomes(subject, [dataclasses.replace(subject.node_pool, spot=not subject.node_pool.spot)])


@needs(disk_size=True)
def a_node_pool_never_changes_its_disk(subject: Subject) -> None:
    _never_becomes(subject, [dataclasses.replace(subject.node_pool, disk_gib=(subject.node_pool.disk_gib or 100) + 1)])


@needs(disk_type=True)
def a_node_pool_never_changes_its_disk_type(subject: Subject) -> None:
    _never_becomes(subject, [dataclasses.replace(subject.node_pool, disk_type="another")])


@needs(zones=True)
def a_node_pool_never_moves(subject: Subject) -> None:
    others = sorted(set(subject.open().node_places()) - {subject.node_pool.places[0]})
    _never_becomes(subject, [dataclasses.replace(subject.node_pool, places=(others[0],))])


@needs_of_the_subject("other_shapes")
def a_node_pool_never_changes_what_else_is_its_shape_at_the_provider(subject: Subject) -> None:
    assert isinstance(subject, HasOtherShapes)
    assert subject.other_shapes
    _never_becomes(subject, subject.other_shapes)


def a_node_pool_that_is_not_there_is_gone(subject: Subject) -> None:
    active_cluster(subject)
    before = subject.writes()
    for _time in range(REPEATS):
        gone = subject.open().delete_node_pool(subject.cluster, subject.node_pool.name, subject.node_pool.tags)
        assert gone is Deletion.GONE
    assert subject.writes() == before


def what_is_deleted_over_and_over_goes_once(subject: Subject) -> None:
    active_node_pool(subject)
    before = subject.writes()

    def delete_node_pool() -> Deletion:
        return subject.open().delete_node_pool(subject.cluster, subject.node_pool.name, subject.node_pool.tags)

    assert {delete_node_pool() for _time in range(REPEATS)} == {Deletion.UNDER_WAY}
    subject.settle()
    assert {delete_node_pool() for _time in range(REPEATS)} == {Deletion.GONE}

    def delete_cluster() -> Deletion:
        return subject.open().delete_cluster(subject.cluster)

    assert {delete_cluster() for _time in range(REPEATS)} == {Deletion.UNDER_WAY}
    subject.settle()
    assert {delete_cluster() for _time in range(REPEATS)} == {Deletion.GONE}
    assert subject.writes() == before + 2
    assert list(subject.leftovers()) == []


NODE_POOLS: tuple[Case, ...] = (
    a_node_pool_is_made_once_however_often_it_is_wanted,
    a_ready_node_pool_is_as_it_was_wanted,
    a_spot_node_pool_is_seen_as_one,
    a_node_pool_is_put_only_into_the_places_that_it_names,
    a_node_pool_of_machines_that_there_are_not_is_refused,
    what_is_converged_is_only_read,
    a_node_pool_is_resized_in_place,
    a_node_pool_goes_to_no_nodes_and_comes_back,
    a_node_pool_is_made_without_nodes,
    a_node_pool_of_a_fixed_size_is_never_without_nodes,
    a_node_pool_with_an_autoscaler_may_be_made_without_nodes,
    a_node_pool_never_changes_its_machine_type,
    a_node_pool_never_becomes_spot,
    a_node_pool_never_changes_its_disk,
    a_node_pool_never_changes_its_disk_type,
    a_node_pool_never_moves,
    a_node_pool_never_changes_what_else_is_its_shape_at_the_provider,
    a_node_pool_that_is_not_there_is_gone,
    what_is_deleted_over_and_over_goes_once,
)
