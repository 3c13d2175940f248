# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A cluster's whole life as the pass drives it: step after step, come what may, until it is there, until it is gone.

Where a provider makes no cluster without nodes, one stands with a node pool called FIRST beside those of the cases.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Mapping

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import (
    InUse,
    OperationInProgress,
    ProviderError,
    Throttled,
    Unavailable,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.observed import (
    ObservedCluster,
    ObservedNodePool,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.states import ProviderStatus
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.contract import (
    ClusterSpec,
    Deletion,
    Driver,
    NodePoolSpec,
)

from .subject import ChangesInSteps, Subject

COME_AGAIN: tuple[type[ProviderError], ...] = (Throttled, Unavailable, OperationInProgress, InUse)
"""After these the pass simply comes again."""

FIRST = "first"
"""The node pool that a cluster is made with where it needs one, and which no case is about."""

REPEATS = 10
"""Of each call that changes something, where a case repeats it."""

_MOST_ROUNDS = 40
"""Ten times what an undisturbed life takes."""

Pass = Callable[[], bool]
"""One pass with a fresh driver; whether all is as wanted. What goes wrong comes out as it is."""

Drive = Callable[[Subject, Pass], None]
"""Repeats a pass until all is as wanted."""


def is_version(held: str, wanted: str | None) -> bool:
    """Whether a provider's version, e.g. `1.34.9-gke.100`, is the wanted one, e.g. `1.34`; None is any."""
    return wanted is None or held == wanted or held.startswith((f"{wanted}.", f"{wanted}-"))


def smallest(subject: Subject) -> int:
    """The least total but zero, of which all totals are multiples: one node in each zone where they count per zone."""
    return max(1, len(subject.node_pool.places)) if subject.open().capabilities.per_zone_counts else 1


def first_ones(subject: Subject, tags: Mapping[str, str] | None = None) -> tuple[NodePoolSpec, ...]:
    """What a cluster that no case puts nodes in is made with: FIRST where it needs nodes, else nothing."""
    if not subject.open().capabilities.cluster_needs_nodes:
        return ()
    spec = dataclasses.replace(subject.node_pool, name=FIRST, nodes=smallest(subject))
    return (spec if tags is None else dataclasses.replace(spec, tags=tags),)


def ensure_cluster(subject: Subject, spec: ClusterSpec | None = None) -> ObservedCluster:
    """Make the subject's cluster, or as `spec` has it, with a fresh driver and what it cannot be made without."""
    wanted = spec or subject.cluster
    return subject.open().ensure_cluster(wanted, first_ones(subject, wanted.tags))


def node_pool(driver: Driver, cluster: ClusterSpec, name: str) -> ObservedNodePool | None:
    """The node pool as the list has it."""
    return next((pool for pool in driver.get_node_pools(cluster) if pool.name == name), None)


def standing(subject: Subject, name: str | None = None) -> ObservedNodePool:
    """The subject's node pool, or the one of that name, which must be there."""
    found = node_pool(subject.open(), subject.cluster, name or subject.node_pool.name)
    assert found is not None
    return found


def active_cluster(subject: Subject, spec: ClusterSpec | None = None) -> ObservedCluster:
    """Make the subject's cluster, or as `spec` has it, and wait until it serves."""
    ensure_cluster(subject, spec)
    subject.settle()
    observed = subject.open().get_cluster(spec or subject.cluster)
    assert observed is not None
    assert observed.status is ProviderStatus.ACTIVE
    return observed


def active_node_pool(subject: Subject, spec: NodePoolSpec | None = None) -> ObservedNodePool:
    """Make the subject's cluster and its node pool, or as `spec` has it, and wait until both serve."""
    active_cluster(subject)
    wanted = spec or subject.node_pool
    subject.open().ensure_node_pool(subject.cluster, wanted, None)
    subject.settle()
    observed = standing(subject, wanted.name)
    assert observed.status is ProviderStatus.ACTIVE
    return observed


def changed(subject: Subject, wanted: NodePoolSpec, *paths: str) -> ObservedNodePool:
    """Let the driver change the node pool, see that it is what it said, and that nothing is sent afterwards.

    Arguments:
        paths: of what the driver is to find.
    """
    driver, before = subject.open(), subject.writes()
    found = standing(subject)
    assert [item.path for item in driver.compare(wanted, found) if item.in_place] == list(paths)
    most = subject.most_writes_of_a_change if isinstance(subject, ChangesInSteps) else 1
    for _step in range(most):
        sent = driver.ensure_node_pool(subject.cluster, wanted, found)
        assert sent.status in (ProviderStatus.UPDATING, ProviderStatus.ACTIVE)  # some changes are there at once
        wanted = dataclasses.replace(wanted, update_id=sent.update_id or wanted.update_id)
        if most == 1:
            assert driver.compare(wanted, sent) == ()
        subject.settle()
        found = standing(subject)
    assert driver.compare(wanted, found) == ()
    assert 0 < subject.writes() - before <= most
    before = subject.writes()
    assert driver.ensure_node_pool(subject.cluster, wanted, found) == found
    assert subject.writes() == before
    return found


def count_node_pools(subject: Subject) -> int:
    """How many node pools the cluster has beside FIRST, asked until there is an answer."""
    for _round in range(_MOST_ROUNDS):
        with contextlib.suppress(*COME_AGAIN):
            return sum(pool.name != FIRST for pool in subject.open().get_node_pools(subject.cluster))
    raise AssertionError("the node pools could never be listed")


def done(one_pass: Pass) -> bool:
    """Make a pass: False, too, when it has to come again."""
    with contextlib.suppress(*COME_AGAIN):
        return one_pass()
    return False


def undisturbed(subject: Subject, one_pass: Pass) -> None:
    """Pass after pass, and between them all that goes on comes to its end."""
    for _round in range(_MOST_ROUNDS):
        if done(one_pass):
            return
        subject.settle()
    raise AssertionError("it never became as wanted")


def bring_up(subject: Subject, spec: NodePoolSpec, *, version: str | None = None, drive: Drive = undisturbed) -> None:
    """Pass after pass until cluster, access and node pool are as wanted, with a fresh driver for each pass.

    Arguments:
        version: of the cluster; None takes the provider's.
    """
    wanted = dataclasses.replace(subject.cluster, version=version)
    sent: list[str] = []

    def one_pass() -> bool:
        driver = subject.open()
        first = (spec,) if driver.capabilities.cluster_needs_nodes else ()
        cluster = driver.ensure_cluster(wanted, first)
        if cluster.status is not ProviderStatus.ACTIVE:
            return False
        accepted = subject.accepts(driver.bootstrap_access(cluster))
        if not accepted:
            driver.grant_access(wanted)
        found = node_pool(driver, wanted, spec.name)
        pool = driver.ensure_node_pool(
            wanted, dataclasses.replace(spec, update_id=sent[-1] if sent else spec.update_id), found
        )
        sent.extend([pool.update_id] if pool.update_id else [])
        as_wanted = accepted and pool == found and pool.status is ProviderStatus.ACTIVE
        if not (as_wanted and (not pool.version or is_version(pool.version, spec.version))):
            return False
        assert driver.compare(spec, pool) == ()
        return True

    drive(subject, one_pass)


def tear_down(subject: Subject, *, drive: Drive = undisturbed) -> None:
    """Pass after pass until the provider says that node pool and cluster are gone.

    A last node pool that the provider does not give up (InUse) goes with its cluster.
    """

    def one_pass() -> bool:
        driver = subject.open()
        try:
            pool = driver.delete_node_pool(subject.cluster, subject.node_pool.name, subject.node_pool.tags)
        except InUse:
            if not driver.capabilities.cluster_needs_nodes:
                raise
            pool = Deletion.GONE
        return pool is Deletion.GONE and driver.delete_cluster(subject.cluster) is Deletion.GONE

    drive(subject, one_pass)
