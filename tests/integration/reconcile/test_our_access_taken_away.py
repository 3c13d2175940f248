# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Somebody takes our rights inside the cluster away: the pass that is refused makes them again, once, and goes on."""

from __future__ import annotations

from ansible_collections.better_compute.fleet.emulators.engine import Error
from ansible_collections.better_compute.fleet.plugins.module_utils._core.cluster.access import bootstrap_api
from ansible_collections.better_compute.fleet.plugins.module_utils._core.cluster.api import ClusterApi
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.observed import ObservedCluster
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.states import (
    ProviderStatus,
    SubstrateState,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.store import fleet as fleet_rows
from ansible_collections.better_compute.fleet.tests.support.life.fleet_at_hand import Fleet
from ansible_collections.better_compute.fleet.tests.support.life.world import document

BINDING = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/bc-substrate"


def administrator(fleet: Fleet) -> ClusterApi:
    """The cluster's API in the hands of the account's own principal."""
    cluster = fleet.cluster()
    with fleet.session.store.read() as tx:
        account = fleet_rows.account(tx, cluster.account_id)
    assert account is not None
    known = ObservedCluster(
        name=cluster.name,
        status=ProviderStatus.ACTIVE,
        message="",
        outputs=cluster.outputs,
        private_nodes=cluster.private_nodes,
        tags={},
    )
    return bootstrap_api(fleet.session.open_driver(account).bootstrap_access(known))


def test_a_deleted_binding_is_made_again_and_the_same_pass_does_all_its_work(fleet: Fleet) -> None:
    fleet.join_all(document())
    fleet.scene.clock.advance(300)
    with administrator(fleet) as api:
        api.request("DELETE", BINDING, body={"apiVersion": "v1", "kind": "DeleteOptions"})
        mark = fleet.scene.engine.log.mark
        view = fleet.one_pass()
        assert api.request("GET", BINDING)["subjects"][0]["name"] == "bc-substrate"
    assert (view.record.state, view.record.message) == (SubstrateState.READY, "")
    calls = [entry.call.name for entry in fleet.scene.engine.log.entries(after=mark)]
    assert "LIST nodes" in calls


def test_rights_that_are_refused_all_the_same_are_made_once_in_a_pass_and_the_refusal_is_told(fleet: Fleet) -> None:
    fleet.join_all(document())
    fleet.scene.clock.advance(300)
    refused = Error(status=403, code="Forbidden", message="an admission webhook says no")
    fleet.scene.engine.faults.add("kubernetes", "GET configmaps", refused, times=None)
    mark = fleet.scene.engine.log.mark
    view = fleet.one_pass()
    assert "claiming cluster" in view.record.message
    assert "an admission webhook says no" in view.record.message
    calls = [entry.call.name for entry in fleet.scene.engine.log.entries(after=mark)]
    assert calls.count("POST clusterrolebindings") == 1
    assert "LIST nodes" not in calls
