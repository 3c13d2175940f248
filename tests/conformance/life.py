# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A cluster's whole life as the pass drives it: step after step, come what may, until it is there, until it is gone."""

from __future__ import annotations

import contextlib
import dataclasses

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

from .subject import Subject

COME_AGAIN: tuple[type[ProviderError], ...] = (Throttled, Unavailable, OperationInProgress, InUse)
"""After these the pass simply comes again."""

_MOST_ROUNDS = 40
"""Ten times what an undisturbed life takes."""


def node_pool(driver: Driver, cluster: ClusterSpec, name: str) -> ObservedNodePool | None:
    """The node pool as the list has it."""
    return next((pool for pool in driver.get_node_pools(cluster) if pool.name == name), None)


def active_cluster(subject: Subject) -> ObservedCluster:
    """Make the subject's cluster and wait until it serves."""
    driver = subject.open()
    driver.ensure_cluster(subject.cluster)
    subject.settle()
    observed = driver.get_cluster(subject.cluster)
    assert observed is not None
    assert observed.status is ProviderStatus.ACTIVE
    return observed


def active_node_pool(subject: Subject, spec: NodePoolSpec | None = None) -> ObservedNodePool:
    """Make the subject's cluster and its node pool, or as `spec` has it, and wait until both serve."""
    active_cluster(subject)
    driver = subject.open()
    driver.ensure_node_pool(subject.cluster, spec or subject.node_pool, None)
    subject.settle()
    observed = node_pool(driver, subject.cluster, subject.node_pool.name)
    assert observed is not None
    assert observed.status is ProviderStatus.ACTIVE
    return observed


def count_node_pools(subject: Subject) -> int:
    """How many node pools the cluster has, asked until there is an answer."""
    for _round in range(_MOST_ROUNDS):
        with contextlib.suppress(*COME_AGAIN):
            return len(subject.open().get_node_pools(subject.cluster))
    raise AssertionError("the node pools could never be listed")


def bring_up(subject: Subject, spec: NodePoolSpec, *, version: str | None = None) -> None:
    """Pass after pass until cluster, access and node pool are as wanted, with a fresh driver for each pass.

    Arguments:
        version: of the cluster; None takes the provider's.
    """
    wanted = dataclasses.replace(subject.cluster, version=version)
    for _round in range(_MOST_ROUNDS):
        try:
            driver = subject.open()
            cluster = driver.ensure_cluster(wanted)
            if cluster.status is ProviderStatus.ACTIVE:
                if not subject.accepts(driver.bootstrap_access(cluster)):
                    driver.grant_access(wanted)
                found = node_pool(driver, wanted, spec.name)
                pool = driver.ensure_node_pool(wanted, spec, found)
                spec = dataclasses.replace(spec, update_id=pool.update_id or spec.update_id)
                if (
                    pool == found
                    and pool.status is ProviderStatus.ACTIVE
                    and pool.version.startswith(spec.version or "")
                ):
                    assert driver.compare(spec, pool) == ()
                    return
        except COME_AGAIN:
            pass
        subject.settle()
    raise AssertionError("the node pool never became as wanted")


def tear_down(subject: Subject) -> None:
    """Pass after pass until the provider says that node pool and cluster are gone."""
    for _round in range(_MOST_ROUNDS):
        try:
            driver = subject.open()
            pool = driver.delete_node_pool(subject.cluster, subject.node_pool.name, subject.node_pool.tags)
            if pool is Deletion.GONE and driver.delete_cluster(subject.cluster) is Deletion.GONE:
                return
        except COME_AGAIN:
            pass
        subject.settle()
    raise AssertionError("the cluster never went")
