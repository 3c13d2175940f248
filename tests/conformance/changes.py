# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The cases about what changes of node pools that stand: in place, only what differs, and once."""

from __future__ import annotations

import dataclasses

import pytest

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.declared import Taint
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import PermissionDenied
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.observed import (
    NodeBounds,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.states import ProviderStatus
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.contract import NodePoolSpec

from .flags import needs_of_the_subject
from .life import (
    REPEATS,
    active_cluster,
    active_node_pool,
    bring_up,
    changed,
    ensure_cluster,
    is_version,
    smallest,
    standing,
)
from .subject import Autoscales, Case, GivesChangesUp, Subject

_TAINT = Taint(key="team", effect="NoSchedule", value="blue")


def labels_and_taints_are_given_and_taken_in_place(subject: Subject) -> None:
    active_node_pool(subject)
    own = subject.node_pool
    with_both = dataclasses.replace(
        own, labels={**own.labels, "team": "blue", "tier": "1"}, labels_declared=True, taints=(_TAINT,)
    )
    after = changed(subject, with_both, "labels", "taints")
    assert with_both.labels.items() <= after.labels.items()
    assert _TAINT in after.taints
    other_values = dataclasses.replace(
        with_both,
        labels={**own.labels, "team": "red"},
        taints=(dataclasses.replace(_TAINT, value="red"), Taint(key="tier", effect="NoExecute")),
    )
    after = changed(subject, other_values, "labels", "taints")
    assert "tier" not in after.labels
    after = changed(subject, dataclasses.replace(own, labels_declared=True, taints=()), "labels", "taints")
    assert not {taint.key for taint in after.taints} & {"team", "tier"}


def labels_and_taints_that_are_left_open_are_left_alone(subject: Subject) -> None:
    active_node_pool(subject)
    subject.edit(labels={**standing(subject).labels, "by": "hand"}, taints=[_TAINT])
    found, before = standing(subject), subject.writes()
    assert _TAINT in found.taints
    driver = subject.open()
    assert driver.compare(subject.node_pool, found) == ()
    assert driver.ensure_node_pool(subject.cluster, subject.node_pool, found) == found
    assert subject.writes() == before


def labels_that_were_taken_away_by_hand_are_put_back(subject: Subject) -> None:
    active_node_pool(subject)
    subject.edit(labels={}, taints=[])
    after = changed(subject, subject.node_pool, "labels")
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
    assert subject.open().compare(turned, standing(subject)) == ()


def _autoscaled(subject: Subject) -> NodePoolSpec:
    """Have a node pool that the autoscaler has brought from `nodes` to three more in each place, as it is wanted."""
    assert isinstance(subject, Autoscales)
    step = smallest(subject)
    bounds = NodeBounds(least=step, most=subject.node_pool.nodes + 5 * step)
    wanted = dataclasses.replace(subject.node_pool, bounds=bounds)
    active_node_pool(subject, wanted)
    subject.autoscale(subject.node_pool.nodes + 3 * step)
    return wanted


@needs_of_the_subject("autoscale")
def a_count_that_the_autoscaler_moved_is_left_alone(subject: Subject) -> None:
    kept = dataclasses.replace(_autoscaled(subject), keep_count=True)
    moved, before = standing(subject), subject.writes()
    driver = subject.open()
    assert driver.compare(kept, moved) == ()
    for _time in range(REPEATS):
        assert driver.ensure_node_pool(subject.cluster, kept, moved) == moved
    assert subject.writes() == before


@needs_of_the_subject("autoscale")
@needs_of_the_subject("sees_autoscaling", unless_it_says=True)
def a_count_that_the_autoscaler_moved_is_seen_and_put_back_without_one(subject: Subject) -> None:
    wanted, nodes = _autoscaled(subject), subject.node_pool.nodes
    assert standing(subject).nodes == nodes + 3 * smallest(subject)
    assert changed(subject, wanted, "totalNodes").nodes == nodes
    after = changed(subject, subject.node_pool, "autoscaling.minNodes", "autoscaling.maxNodes")
    assert after.nodes == nodes


def bounds_are_set_moved_and_taken_away_in_place(subject: Subject) -> None:
    active_node_pool(subject)
    own, step = dataclasses.replace(subject.node_pool, keep_count=True), smallest(subject)
    for most, *paths in (
        (own.nodes + 5 * step, "autoscaling.minNodes", "autoscaling.maxNodes"),
        (own.nodes + 9 * step, "autoscaling.maxNodes"),
    ):
        bounds = NodeBounds(least=step, most=most)
        assert changed(subject, dataclasses.replace(own, bounds=bounds), *paths).bounds == bounds
    bring_up(subject, subject.node_pool)
    after = standing(subject)
    fixed = NodeBounds(least=own.nodes, most=own.nodes)  # as providers say it that have no size without bounds
    assert (after.bounds or fixed, after.nodes) == (fixed, own.nodes)


@needs_of_the_subject("sees_autoscaling", unless_it_says=True)
def bounds_take_the_count_along_only_where_it_is_outside_of_them(subject: Subject) -> None:
    active_node_pool(subject)
    own, step = dataclasses.replace(subject.node_pool, keep_count=True), smallest(subject)
    nodes = own.nodes

    def bounded(least: int, most: int) -> NodePoolSpec:
        return dataclasses.replace(own, bounds=NodeBounds(least=least, most=most))

    least, most, far, more = "autoscaling.minNodes", "autoscaling.maxNodes", nodes + 9 * step, nodes + 2 * step
    assert changed(subject, bounded(step, far), least, most).nodes == nodes
    assert changed(subject, bounded(more, far), "totalNodes", least).nodes == more
    assert changed(subject, bounded(step, far), least).nodes == more
    assert changed(subject, bounded(step, nodes), "totalNodes", most).nodes == nodes


def a_change_that_is_under_way_is_not_sent_again(subject: Subject) -> None:
    observed = active_node_pool(subject)
    wanted = dataclasses.replace(subject.node_pool, nodes=subject.node_pool.nodes + smallest(subject))
    driver, before = subject.open(), subject.writes()
    sent = driver.ensure_node_pool(subject.cluster, wanted, observed)
    again = dataclasses.replace(wanted, update_id=sent.update_id)
    for seen in (observed, standing(subject)):
        for _time in range(REPEATS):
            found = driver.ensure_node_pool(subject.cluster, again, seen)
            assert found.status is ProviderStatus.UPDATING
    assert subject.writes() == before + 1


@needs_of_the_subject("give_up_next_change")
def a_change_that_the_provider_gave_up_is_told_and_sent_again_only_without_its_id(subject: Subject) -> None:
    assert isinstance(subject, GivesChangesUp)
    active_node_pool(subject)
    wanted = dataclasses.replace(subject.node_pool, nodes=subject.node_pool.nodes + smallest(subject))
    subject.give_up_next_change()
    driver = subject.open()
    sent = driver.ensure_node_pool(subject.cluster, wanted, standing(subject))
    subject.settle()
    found, before = standing(subject), subject.writes()
    assert found.nodes == subject.node_pool.nodes
    for _time in range(REPEATS):
        with pytest.raises(PermissionDenied):
            driver.ensure_node_pool(subject.cluster, dataclasses.replace(wanted, update_id=sent.update_id), found)
    assert subject.writes() == before
    assert changed(subject, wanted, "totalNodes").nodes == wanted.nodes


def a_change_that_is_needed_again_after_the_last_one_is_sent_again(subject: Subject) -> None:
    active_node_pool(subject)
    driver, own = subject.open(), subject.node_pool
    update_id: str | None = None
    for _time in range(3):
        subject.edit(labels={}, taints=[])
        before = subject.writes()
        sent = driver.ensure_node_pool(
            subject.cluster, dataclasses.replace(own, update_id=update_id), standing(subject)
        )
        assert subject.writes() == before + 1
        update_id = sent.update_id
        subject.settle()
        assert driver.compare(own, standing(subject)) == ()


def a_node_pool_follows_its_control_plane_and_never_leads(subject: Subject) -> None:
    old, between, new = subject.versions
    active_cluster(subject, dataclasses.replace(subject.cluster, version=old))
    driver = subject.open()
    driver.ensure_node_pool(subject.cluster, subject.node_pool, None)
    subject.settle()
    ahead = dataclasses.replace(subject.node_pool, version=new)
    found, before = standing(subject), subject.writes()
    assert is_version(found.version, old)
    assert driver.ensure_node_pool(subject.cluster, ahead, found) == found
    assert subject.writes() == before
    ensure_cluster(subject, dataclasses.replace(subject.cluster, version=between))
    subject.settle()
    before, between_times = subject.writes(), standing(subject)
    assert driver.ensure_node_pool(subject.cluster, subject.node_pool, between_times) == between_times
    assert subject.writes() == before
    for _time in range(REPEATS):
        update_id = driver.ensure_node_pool(subject.cluster, ahead, standing(subject)).update_id
        ahead = dataclasses.replace(ahead, update_id=update_id or ahead.update_id)
    subject.settle()
    after = standing(subject)
    assert is_version(after.version, between)
    assert driver.ensure_node_pool(subject.cluster, ahead, after) == after
    # Some providers replace all nodes along with the control plane.
    assert subject.writes() == before + (between_times.version != after.version)


def a_change_that_the_provider_does_not_know_any_more_is_sent_again(subject: Subject) -> None:
    active_node_pool(subject)
    unknown = dataclasses.replace(subject.node_pool, update_id="00000000-0000-4000-8000-000000000000")
    changed(subject, dataclasses.replace(unknown, nodes=unknown.nodes + smallest(subject)), "totalNodes")


CHANGES: tuple[Case, ...] = (
    labels_and_taints_are_given_and_taken_in_place,
    labels_and_taints_that_are_left_open_are_left_alone,
    labels_that_were_taken_away_by_hand_are_put_back,
    the_order_of_places_labels_and_taints_means_nothing,
    a_count_that_the_autoscaler_moved_is_left_alone,
    a_count_that_the_autoscaler_moved_is_seen_and_put_back_without_one,
    bounds_are_set_moved_and_taken_away_in_place,
    bounds_take_the_count_along_only_where_it_is_outside_of_them,
    a_change_that_is_under_way_is_not_sent_again,
    a_change_that_the_provider_gave_up_is_told_and_sent_again_only_without_its_id,
    a_change_that_is_needed_again_after_the_last_one_is_sent_again,
    a_change_that_the_provider_does_not_know_any_more_is_sent_again,
    a_node_pool_follows_its_control_plane_and_never_leads,
)
