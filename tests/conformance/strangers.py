# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The cases about what is not ours and has our name: it is told, and never touched."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import pytest

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import AlreadyExists
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.labels import CLUSTER
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.states import ProviderStatus
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.contract import Deletion

from .life import active_cluster, ensure_cluster, first_ones, node_pool, smallest, standing, undisturbed
from .subject import Case, Subject

_NONE_OF_OURS = {"team": "another"}


def _of_another(subject: Subject) -> dict[str, str]:
    """The marks of an earlier cluster of the same pool: all but one are ours, and it is still a stranger's."""
    return {**subject.cluster.tags, CLUSTER: "kcl_00000000000000000000000000"}


def _a_cluster_is_never_touched(subject: Subject, marks: Mapping[str, str]) -> None:
    ensure_cluster(subject, dataclasses.replace(subject.cluster, tags=marks, version=subject.versions[0]))
    subject.settle()
    before, there = subject.writes(), list(subject.leftovers())
    driver, mine = subject.open(), dataclasses.replace(subject.cluster, version=subject.versions[2])
    for refused in (driver.get_cluster, driver.delete_cluster, driver.grant_access):
        with pytest.raises(AlreadyExists):
            refused(mine)
    with pytest.raises(AlreadyExists):
        driver.ensure_cluster(mine, first_ones(subject))
    assert (subject.writes(), list(subject.leftovers())) == (before, there)


def a_strangers_cluster_is_never_touched(subject: Subject) -> None:
    _a_cluster_is_never_touched(subject, _of_another(subject))


def a_cluster_without_our_marks_is_never_touched(subject: Subject) -> None:
    _a_cluster_is_never_touched(subject, _NONE_OF_OURS)


def _a_node_pool_is_never_touched(subject: Subject, marks: Mapping[str, str]) -> None:
    active_cluster(subject)
    driver, mine = subject.open(), subject.node_pool
    driver.ensure_node_pool(subject.cluster, dataclasses.replace(mine, tags=marks), None)
    subject.settle()
    before, there = subject.writes(), list(subject.leftovers())
    for seen in (standing(subject), None):
        for wanted in (
            mine,
            dataclasses.replace(mine, nodes=mine.nodes + smallest(subject)),
            dataclasses.replace(mine, version=subject.versions[2]),
        ):
            with pytest.raises(AlreadyExists):
                driver.ensure_node_pool(subject.cluster, wanted, seen)
    with pytest.raises(AlreadyExists):
        driver.delete_node_pool(subject.cluster, mine.name, mine.tags)
    assert (subject.writes(), list(subject.leftovers())) == (before, there)


def a_strangers_node_pool_is_listed_and_never_touched(subject: Subject) -> None:
    _a_node_pool_is_never_touched(subject, _of_another(subject))


def a_node_pool_without_our_marks_is_listed_and_never_touched(subject: Subject) -> None:
    _a_node_pool_is_never_touched(subject, _NONE_OF_OURS)


def an_adopted_cluster_is_read_and_extended_and_nothing_else_of_it_changes(subject: Subject) -> None:
    ensure_cluster(subject, dataclasses.replace(subject.cluster, tags=_NONE_OF_OURS))
    subject.settle()
    adopted = dataclasses.replace(subject.cluster, adopted=True)
    driver, there = subject.open(), list(subject.leftovers())
    found = driver.get_cluster(adopted)
    assert found is not None
    assert found.serves
    assert found.outputs is not None
    assert driver.bootstrap_access(found).endpoint == found.outputs.endpoint

    writes = subject.writes()
    for refused in (driver.ensure_cluster, driver.delete_cluster, driver.grant_access):
        with pytest.raises(AlreadyExists):
            refused(adopted)
    driver.check_adopted(adopted, [subject.node_pool])
    assert driver.access_needed(adopted)
    driver.revoke_access(adopted)
    assert subject.writes() == writes

    def is_made() -> bool:
        pool = node_pool(subject.open(), adopted, subject.node_pool.name)
        subject.open().ensure_node_pool(adopted, subject.node_pool, pool)
        return pool is not None and pool.status is ProviderStatus.ACTIVE

    undisturbed(subject, is_made)

    def is_gone() -> bool:
        pool = subject.node_pool
        return subject.open().delete_node_pool(adopted, pool.name, pool.tags) is Deletion.GONE

    undisturbed(subject, is_gone)
    assert subject.open().get_cluster(adopted) == found
    assert list(subject.leftovers()) == there
    unknown = dataclasses.replace(adopted, name="bc-nobodys")
    assert driver.get_cluster(unknown) is None


STRANGERS: tuple[Case, ...] = (
    a_strangers_cluster_is_never_touched,
    a_cluster_without_our_marks_is_never_touched,
    a_strangers_node_pool_is_listed_and_never_touched,
    a_node_pool_without_our_marks_is_listed_and_never_touched,
    an_adopted_cluster_is_read_and_extended_and_nothing_else_of_it_changes,
)
