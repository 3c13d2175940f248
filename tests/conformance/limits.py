# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The cases about the ends of things: the longest names and the shortest, many node pools, no machines left."""

from __future__ import annotations

import dataclasses

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.capabilities import MAX_NODE_POOLS
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.declared import Taint
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import StockedOut
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.states import ProviderStatus
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.contract import (
    Deletion,
    NodePoolSpec,
)

from .flags import needs, needs_of_the_subject
from .life import (
    FIRST,
    active_cluster,
    active_node_pool,
    bring_up,
    node_pool,
    smallest,
    standing,
    tear_down,
    undisturbed,
)
from .subject import Case, Paged, RunsOut, Subject

_LABEL_NAME = 63
"""Characters of the part of a label's or taint's key after the '/', and of its value (Kubernetes)."""


def node_pools_of_the_shortest_and_the_longest_name_are_told_apart(subject: Subject) -> None:
    longest = "a" * subject.open().capabilities.max_node_pool_name
    specs = [dataclasses.replace(subject.node_pool, name=name) for name in ("a", longest[:-1], longest)]
    active_cluster(subject)
    _make(subject, specs)
    undisturbed(subject, lambda: _is_gone(subject, longest))
    for spec in specs[:2]:
        found = standing(subject, spec.name)
        assert (found.status, found.nodes) == (ProviderStatus.ACTIVE, spec.nodes)
    assert node_pool(subject.open(), subject.cluster, longest) is None


def _is_gone(subject: Subject, name: str) -> bool:
    """Delete the node pool; whether the provider says that it is gone."""
    return subject.open().delete_node_pool(subject.cluster, name, subject.node_pool.tags) is Deletion.GONE


def _make(subject: Subject, specs: list[NodePoolSpec]) -> None:
    """Make node pools at once, as the pass does with a pool's flavors, until all serve."""

    def one_pass() -> bool:
        driver = subject.open()
        there = {pool.name: pool for pool in driver.get_node_pools(subject.cluster)}
        made = [driver.ensure_node_pool(subject.cluster, spec, there.get(spec.name)) for spec in specs]
        return all(pool.status is ProviderStatus.ACTIVE for pool in made)

    undisturbed(subject, one_pass)


def the_longest_labels_and_taints_are_held_as_they_are(subject: Subject) -> None:
    key = _key_of(subject.open().capabilities.max_mark_key)
    value = "v" * _LABEL_NAME
    taint = Taint(key=key, effect="NoSchedule", value=value)
    wanted = dataclasses.replace(
        subject.node_pool, labels={**subject.node_pool.labels, key: value}, labels_declared=True, taints=(taint,)
    )
    observed = active_node_pool(subject, wanted)
    assert observed.labels[key] == value
    assert taint in observed.taints
    assert subject.open().compare(wanted, observed) == ()


def _key_of(characters: int) -> str:
    """A label's key of so many characters: a name, or a DNS name, '/', and a name."""
    if characters <= _LABEL_NAME:
        return "k" * characters
    domain = characters - _LABEL_NAME - len("/")
    labels = [("d" * _LABEL_NAME + ".") * (domain // 64), "d" * (domain % 64)]
    return "".join(labels) + "/" + "k" * _LABEL_NAME


@needs(empty_label_values=True)
def a_label_may_have_no_value(subject: Subject) -> None:
    labels = {**subject.node_pool.labels, "team": ""}
    wanted = dataclasses.replace(subject.node_pool, labels=labels, labels_declared=True)
    observed = active_node_pool(subject, wanted)
    assert observed.labels["team"] == ""
    assert subject.open().compare(wanted, observed) == ()


def more_node_pools_than_a_page_holds_are_all_listed(subject: Subject) -> None:
    page = subject.node_pools_of_a_page if isinstance(subject, Paged) else MAX_NODE_POOLS
    specs = [
        dataclasses.replace(subject.node_pool, name=f"pool-{number}", nodes=smallest(subject))
        for number in range(page + 1)
    ]
    active_cluster(subject)
    _make(subject, specs)
    listed = [pool.name for pool in subject.open().get_node_pools(subject.cluster) if pool.name != FIRST]
    assert sorted(listed) == sorted(spec.name for spec in specs)


@needs_of_the_subject("run_out")
def a_node_pool_that_gets_no_machines_says_so_and_goes(subject: Subject) -> None:
    assert isinstance(subject, RunsOut)
    cluster = active_cluster(subject)
    subject.run_out()
    try:
        subject.open().ensure_node_pool(subject.cluster, subject.node_pool, None)
    except StockedOut:
        assert node_pool(subject.open(), subject.cluster, subject.node_pool.name) is None
    else:
        subject.settle()
        found = standing(subject)
        assert found.status is not ProviderStatus.ACTIVE
        assert isinstance(found.failure, StockedOut)
        undisturbed(subject, lambda: _is_gone(subject, subject.node_pool.name))
    assert subject.open().get_cluster(subject.cluster) == cluster
    subject.restock()
    bring_up(subject, dataclasses.replace(subject.node_pool, attempt=1))


@needs(cluster_needs_nodes=True)
@needs_of_the_subject("run_out")
def first_nodes_that_get_no_machines_do_not_lose_the_cluster(subject: Subject) -> None:
    assert isinstance(subject, RunsOut)
    subject.run_out()
    subject.open().ensure_cluster(subject.cluster, (subject.node_pool,))
    subject.settle()
    cluster = subject.open().get_cluster(subject.cluster)
    assert cluster is not None
    assert cluster.serves
    assert isinstance(standing(subject).failure, StockedOut)
    subject.restock()
    bring_up(subject, subject.node_pool)
    again = subject.open().get_cluster(subject.cluster)
    assert again is not None
    assert again.outputs == cluster.outputs
    tear_down(subject)
    assert list(subject.leftovers()) == []


LIMITS: tuple[Case, ...] = (
    node_pools_of_the_shortest_and_the_longest_name_are_told_apart,
    the_longest_labels_and_taints_are_held_as_they_are,
    a_label_may_have_no_value,
    more_node_pools_than_a_page_holds_are_all_listed,
    a_node_pool_that_gets_no_machines_says_so_and_goes,
    first_nodes_that_get_no_machines_do_not_lose_the_cluster,
)
