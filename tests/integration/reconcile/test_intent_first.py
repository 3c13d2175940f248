# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is recorded at the moment when a request leaves for the provider, and who still writes after it."""

from __future__ import annotations

from typing import Any, Never

import pytest

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.records import Lease
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.states import ClusterState
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.eks.driver import EksDriver
from ansible_collections.better_compute.fleet.plugins.module_utils._core.store import work
from ansible_collections.better_compute.fleet.tests.support.life.fleet_at_hand import Fleet
from ansible_collections.better_compute.fleet.tests.support.life.world import document


class Died(BaseException):
    """As if the process were killed here: the product has no answer to it."""


def die(*_arguments: Any) -> Never:
    raise Died


def test_a_process_that_dies_as_it_creates_a_cluster_has_left_word_of_it(
    fleet: Fleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    fleet.apply(document())
    assert fleet.cluster().state == ClusterState.PENDING
    monkeypatch.setattr(EksDriver, "ensure_cluster", die)
    with pytest.raises(Died):
        fleet.run_due()
    assert fleet.cluster().state == ClusterState.PROVISIONING


def test_a_process_that_dies_as_it_creates_a_node_pool_has_left_word_of_it(
    fleet: Fleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    fleet.apply(document())
    monkeypatch.setattr(EksDriver, "ensure_node_pool", die)
    with pytest.raises(Died):
        fleet.live(minutes=30)
    begun = [name for name, pool in fleet.node_pools().items() if pool.last_create_at is not None]
    assert begun == ["h100"]


def test_a_pass_that_hung_until_another_took_over_writes_nothing_any_more(
    fleet_on_either: Fleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It hangs where it has news to record: the cluster serves, and nobody has written down where."""
    fleet = fleet_on_either
    (pool,) = fleet.apply(document())
    ensure_cluster = EksDriver.ensure_cluster
    taken: list[Lease | None] = []
    recorded: list[dict[str, Any]] = []

    def hang(*arguments: Any) -> Any:
        observed = ensure_cluster(*arguments)
        if observed.serves:
            fleet.scene.clock.advance(work.LEASE_SECONDS + 1)
            with fleet.session.store.write() as tx:
                taken.append(work.acquire(tx, pool, "another process"))
            recorded.append(fleet.rows())
        return observed

    monkeypatch.setattr(EksDriver, "ensure_cluster", hang)
    fleet.live(until=lambda: bool(taken), minutes=30)
    with fleet.session.store.read() as tx:
        assert [work.lease_of(tx, pool)] == taken
    assert [fleet.rows()] == recorded
