# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The cases about what changes of clusters and node pools that stand: in place, only what differs, and once."""

from __future__ import annotations

import dataclasses

import pytest

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.declared import Taint
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import PermissionDenied
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.observed import (
    NodeBounds,
    ObservedNodePool,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.states import ProviderStatus
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.contract import NodePoolSpec

from .life import active_node_pool, node_pool
from .subject import Case, Subject

_TAINT = Taint(key="team", effect="NoSchedule", value="blue")


def _standing(subject: Subject) -> ObservedNodePool:
    found = node_pool(subject.open(), subject.cluster, subject.node_pool.name)
    assert found is not None
    return found


def _changed_with_one_write(subject: Subject, wanted: NodePoolSpec, *paths: str) -> ObservedNodePool:
    """Let the driver change the node pool, see that it is what it said, and that it says nothing afterwards."""
    driver, before = subject.open(), subject.writes()
    found = _standing(subject)
    told = driver.compare(wanted, found)
    assert [item.path for item in told if item.in_place] == list(paths)
    sent = driver.ensure_node_pool(subject.cluster, wanted, found)
    assert sent.status is ProviderStatus.UPDATING
    assert driver.compare(wanted, sent) == ()
    subject.settle()
    after = _standing(subject)
    assert driver.compare(wanted, after) == ()
    assert driver.ensure_node_pool(subject.cluster, wanted, after) == after
    assert subject.writes() == before + 1
    return after


def labels_and_taints_are_given_and_taken_in_place(subject: Subject) -> None:
    active_node_pool(subject)
    own = subject.node_pool
    with_both = dataclasses.replace(
        own, labels={**own.labels, "team": "blue", "tier": "1"}, labels_declared=True, taints=(_TAINT,)
    )
    after = _changed_with_one_write(subject, with_both, "labels", "taints")
    assert with_both.labels.items() <= after.labels.items()
    assert after.taints == (_TAINT,)
    other_values = dataclasses.replace(
        with_both,
        labels={**own.labels, "team": "red"},
        taints=(dataclasses.replace(_TAINT, value="red"), Taint(key="tier", effect="NoExecute")),
    )
    after = _changed_with_one_write(subject, other_values, "labels", "taints")
    assert "tier" not in after.labels
    after = _changed_with_one_write(
        subject, dataclasses.replace(own, labels_declared=True, taints=()), "labels", "taints"
    )
    assert after.taints == ()


def labels_and_taints_that_are_left_open_are_left_alone(subject: Subject) -> None:
    active_node_pool(subject)
    subject.edit(labels={**subject.node_pool.labels, "by": "hand"}, taints=[_TAINT])
    found, before = _standing(subject), subject.writes()
    assert found.taints == (_TAINT,)
    driver = subject.open()
    assert driver.compare(subject.node_pool, found) == ()
    assert driver.ensure_node_pool(subject.cluster, subject.node_pool, found) == found
    assert subject.writes() == before


def labels_that_were_taken_away_by_hand_are_put_back(subject: Subject) -> None:
    active_node_pool(subject)
    subject.edit(labels={}, taints=[])
    after = _changed_with_one_write(subject, subject.node_pool, "labels")
    assert subject.node_pool.labels.items() <= after.labels.items()


def the_order_of_places_labels_and_taints_means_nothing(subject: Subject) -> None:
    own = subject.node_pool
    wanted = dataclasses.replace(
        own,
        labels={**own.labels, "a": "1", "b": "2"},
        labels_declared=True,
        taints=(_TAINT, Taint(key="z", effect="NoExecute")),
    )
    active_node_pool(subject, wanted)
    turned = dataclasses.replace(
        wanted,
        places=tuple(reversed(wanted.places)),
        labels=dict(reversed([*wanted.labels.items()])),
        taints=tuple(reversed(wanted.taints or ())),
    )
    assert subject.open().compare(turned, _standing(subject)) == ()


def a_count_that_the_autoscaler_moved_is_left_alone_and_put_back_without_one(subject: Subject) -> None:
    nodes = subject.node_pool.nodes
    wanted = dataclasses.replace(subject.node_pool, bounds=NodeBounds(least=1, most=nodes + 5))
    active_node_pool(subject, wanted)
    subject.autoscale(nodes + 3)
    moved, before = _standing(subject), subject.writes()
    kept = dataclasses.replace(wanted, keep_count=True)
    driver = subject.open()
    assert moved.nodes == nodes + 3
    assert driver.compare(kept, moved) == ()
    assert driver.ensure_node_pool(subject.cluster, kept, moved) == moved
    assert subject.writes() == before
    assert _changed_with_one_write(subject, wanted, "totalNodes").nodes == nodes
    after = _changed_with_one_write(subject, subject.node_pool, "autoscaling.minNodes", "autoscaling.maxNodes")
    assert after.nodes == nodes


def bounds_take_the_count_along_only_where_it_is_outside_of_them(subject: Subject) -> None:
    active_node_pool(subject)
    own = dataclasses.replace(subject.node_pool, keep_count=True)
    nodes = own.nodes

    def bounded(least: int, most: int) -> NodePoolSpec:
        return dataclasses.replace(own, bounds=NodeBounds(least=least, most=most))

    least, most = "autoscaling.minNodes", "autoscaling.maxNodes"
    assert _changed_with_one_write(subject, bounded(1, nodes + 9), least, most).nodes == nodes
    assert _changed_with_one_write(subject, bounded(nodes + 2, nodes + 9), "totalNodes", least).nodes == nodes + 2
    assert _changed_with_one_write(subject, bounded(1, nodes + 9), least).nodes == nodes + 2
    assert _changed_with_one_write(subject, bounded(1, nodes), "totalNodes", most).nodes == nodes


def a_change_that_is_under_way_is_not_sent_again(subject: Subject) -> None:
    observed = active_node_pool(subject)
    wanted = dataclasses.replace(subject.node_pool, nodes=subject.node_pool.nodes + 1)
    driver, before = subject.open(), subject.writes()
    sent = driver.ensure_node_pool(subject.cluster, wanted, observed)
    again = dataclasses.replace(wanted, update_id=sent.update_id)
    for seen in (observed, _standing(subject)):
        for _time in range(5):
            found = driver.ensure_node_pool(subject.cluster, again, seen)
            assert found.status is ProviderStatus.UPDATING
    assert subject.writes() == before + 1


def a_change_that_the_provider_gave_up_is_told_and_sent_again_only_without_its_id(subject: Subject) -> None:
    active_node_pool(subject)
    wanted = dataclasses.replace(subject.node_pool, nodes=subject.node_pool.nodes + 1)
    subject.give_up_next_change()
    driver = subject.open()
    sent = driver.ensure_node_pool(subject.cluster, wanted, _standing(subject))
    subject.settle()
    found, before = _standing(subject), subject.writes()
    assert found.nodes == subject.node_pool.nodes
    for _time in range(10):
        with pytest.raises(PermissionDenied):
            driver.ensure_node_pool(subject.cluster, dataclasses.replace(wanted, update_id=sent.update_id), found)
    assert subject.writes() == before
    assert _changed_with_one_write(subject, wanted, "totalNodes").nodes == wanted.nodes


def a_change_that_is_needed_again_after_the_last_one_is_sent_again(subject: Subject) -> None:
    active_node_pool(subject)
    driver, own = subject.open(), subject.node_pool
    update_id: str | None = None
    for _time in range(3):
        subject.edit(labels={}, taints=[])
        before = subject.writes()
        sent = driver.ensure_node_pool(
            subject.cluster, dataclasses.replace(own, update_id=update_id), _standing(subject)
        )
        assert sent.status is ProviderStatus.UPDATING
        assert subject.writes() == before + 1
        update_id = sent.update_id
        subject.settle()
        assert driver.compare(own, _standing(subject)) == ()


def a_cluster_is_upgraded_step_by_step_and_never_made_older(subject: Subject) -> None:
    old, between, new = subject.versions
    made = dataclasses.replace(subject.cluster, version=old)
    driver = subject.open()
    driver.ensure_cluster(made)
    subject.settle()
    before = subject.writes()
    wanted = dataclasses.replace(subject.cluster, version=new)
    for step in (between, new):
        for _time in range(5):
            assert subject.open().ensure_cluster(wanted).status is ProviderStatus.UPDATING
        subject.settle()
        found = driver.get_cluster(wanted)
        assert found is not None
        assert found.outputs is not None
        assert found.outputs.version == step
    assert subject.writes() == before + 2
    for version in (new, between, None):
        left_alone = driver.ensure_cluster(dataclasses.replace(subject.cluster, version=version))
        assert left_alone.status is ProviderStatus.ACTIVE
    assert subject.writes() == before + 2


def a_node_pool_follows_its_control_plane_and_never_leads(subject: Subject) -> None:
    old, between, new = subject.versions
    driver = subject.open()
    driver.ensure_cluster(dataclasses.replace(subject.cluster, version=old))
    subject.settle()
    active_node_pool(subject)
    ahead = dataclasses.replace(subject.node_pool, version=new)
    found, before = _standing(subject), subject.writes()
    assert found.version.startswith(old)
    assert driver.ensure_node_pool(subject.cluster, ahead, found) == found
    assert subject.writes() == before
    driver.ensure_cluster(dataclasses.replace(subject.cluster, version=between))
    subject.settle()
    before = subject.writes()
    assert driver.ensure_node_pool(subject.cluster, subject.node_pool, _standing(subject)).version == found.version
    assert subject.writes() == before
    for _time in range(3):
        update_id = driver.ensure_node_pool(subject.cluster, ahead, _standing(subject)).update_id
        ahead = dataclasses.replace(ahead, update_id=update_id or ahead.update_id)
    subject.settle()
    after = _standing(subject)
    assert after.version.startswith(between)
    assert driver.ensure_node_pool(subject.cluster, ahead, after) == after
    assert subject.writes() == before + 1


CHANGES: tuple[Case, ...] = (
    labels_and_taints_are_given_and_taken_in_place,
    labels_and_taints_that_are_left_open_are_left_alone,
    labels_that_were_taken_away_by_hand_are_put_back,
    the_order_of_places_labels_and_taints_means_nothing,
    a_count_that_the_autoscaler_moved_is_left_alone_and_put_back_without_one,
    bounds_take_the_count_along_only_where_it_is_outside_of_them,
    a_change_that_is_under_way_is_not_sent_again,
    a_change_that_the_provider_gave_up_is_told_and_sent_again_only_without_its_id,
    a_change_that_is_needed_again_after_the_last_one_is_sent_again,
    a_cluster_is_upgraded_step_by_step_and_never_made_older,
    a_node_pool_follows_its_control_plane_and_never_leads,
)
