# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""All that the product does in a cluster, once: it sends each request of the list, which `python -m` writes."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from ansible_collections.better_compute.fleet.plugins.module_utils._core.cluster.access import (
    bootstrap_api,
    open_cluster,
    remove_access,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.cluster.agent import apply_agent, remove_agent
from ansible_collections.better_compute.fleet.plugins.module_utils._core.cluster.api import ClusterApi
from ansible_collections.better_compute.fleet.plugins.module_utils._core.cluster.claim import drop_claim, hold_claim
from ansible_collections.better_compute.fleet.plugins.module_utils._core.cluster.join_secret import (
    delete_join_token,
    write_join_token,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.cluster.names import (
    ACCESS_GUARD,
    EDIT_CLUSTER_ROLE,
    EDIT_ROLE,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.cluster.node_list import list_nodes
from ansible_collections.better_compute.fleet.plugins.module_utils._core.cluster.tenant_access import (
    account_name,
    give_access,
    take_access,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model import labels
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.agent import AgentSettings
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.ids import PoolId, TenantId
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.observed import BootstrapAccess
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.secret import Secret

from .emulated import emulated_subject
from .guard import recording
from .requests_sent import write_requests_sent
from .subject import APPLY_PATCH, ApiSubject

_POOL = PoolId("pool_01k00000000000000000000000")
_LABEL = "better-compute.dev/substrate-pool"
_MORE_THAN_A_PAGE = 501
_LATER = datetime(2100, 1, 1, tzinfo=UTC)
_TENANT = TenantId("ten_01k00000000000000000000000")
_SUBJECT = "ci@example.com"
_POD_SECURITY = "pod-security.kubernetes.io/enforce"
_IDENTITY = ("name", "namespace", "uid", "resourceVersion")
_RBAC = "/apis/rbac.authorization.k8s.io/v1"
_ADMISSION = "/apis/admissionregistration.k8s.io/v1"


def live_through(api: ApiSubject) -> None:
    """Bring a substrate's part in the cluster up, keep it through changes, and take it away again."""
    bootstrap = bootstrap_of(api)
    for number in range(_MORE_THAN_A_PAGE):
        api.node(str(number), **{_LABEL: _POOL})
    with open_cluster(bootstrap, pool_id=_POOL) as own, bootstrap_api(bootstrap) as admin:
        _bring_up(admin)
        _let_in(own, "team-a", "team-b")
        for path, content in _drifts().items():
            _drift(api, path, content)
        # A runtime class that is taken away goes with a merge patch; one that comes is applied.
        _bring_up(own, runtime_class=None)
        _bring_up(own, token="two")
        _let_in(own, "team-a")
        for path, content in _added().items():
            _drift(api, path, content)
        _let_in(own, "team-a")
        list_nodes(own, pool_id=_POOL)
        _take_away(api, own, admin)


def bootstrap_of(api: ApiSubject) -> BootstrapAccess:
    """The administrator's way in, as a provider would hand it out."""
    return BootstrapAccess(endpoint=api.endpoint, ca_pem=api.ca_pem, token=Secret(api.token), expires_at=_LATER)


def _bring_up(cluster: ClusterApi, *, runtime_class: str | None = "nvidia", token: str = "one") -> None:
    settings = AgentSettings(
        image="registry.example/bcd:1.0",
        gateway_url="https://gateway.example:7443",
        pins=("cGlu",),
        runtime_class=runtime_class,
    )
    hold_claim(cluster, pool_id=_POOL)
    apply_agent(cluster, pool_id=_POOL, agent=settings)
    write_join_token(cluster, pool_id=_POOL, token=Secret(token))


def _let_in(own: ClusterApi, *namespaces: str) -> None:
    give_access(own, owner=_POOL, tenant_id=_TENANT, subject=_SUBJECT, namespaces=namespaces, seconds=3600)


def _take_away(api: ApiSubject, own: ClusterApi, admin: ClusterApi) -> None:
    take_access(own, owner=_POOL, tenant_id=_TENANT, subject=_SUBJECT)
    delete_join_token(own, pool_id=_POOL)
    write_join_token(own, pool_id=_POOL, token=Secret("three"))
    api.keeper.wait_until(lambda: remove_agent(own, pool_id=_POOL))
    drop_claim(admin, pool_id=_POOL)
    api.keeper.wait_until(lambda: remove_access(admin, pool_id=_POOL))


def _drifts() -> dict[str, dict[str, Any]]:
    """What a stranger changes in the objects that we keep as they are."""
    account = account_name(_TENANT, _SUBJECT)
    other_subject = {"metadata": {"labels": {labels.SUBJECT: "other"}}}
    return {
        "/api/v1/namespaces/better-compute": {"metadata": {"labels": {_POD_SECURITY: "restricted"}}},
        "/api/v1/namespaces/better-compute/configmaps/bcd": {"data": {"BCD_PINS": "theirs"}},
        f"/api/v1/namespaces/bc-access/serviceaccounts/{account}": {"metadata": {"annotations": {labels.SUBJECT: "x"}}},
        f"{_RBAC}/namespaces/team-a/rolebindings/{account}": other_subject,
        f"{_RBAC}/clusterrolebindings/{account}": other_subject,
        f"{_RBAC}/clusterroles/{EDIT_CLUSTER_ROLE}": {"rules": []},
        f"{_RBAC}/clusterroles/{EDIT_ROLE}": {
            "aggregationRule": {"clusterRoleSelectors": [{"matchLabels": {"theirs": "yes"}}]}
        },
        f"{_ADMISSION}/validatingadmissionpolicies/{ACCESS_GUARD}": {"spec": {"failurePolicy": "Ignore"}},
        f"{_ADMISSION}/validatingadmissionpolicybindings/{ACCESS_GUARD}": {"spec": {"policyName": "theirs"}},
    }


def _added() -> dict[str, dict[str, Any]]:
    """What a stranger adds to lists, where an apply leaves it: a merge patch follows."""
    never = {"matchConditions": [{"name": "never", "expression": "false"}]}
    return {
        f"{_ADMISSION}/validatingadmissionpolicies/{ACCESS_GUARD}": {"spec": never},
        f"{_ADMISSION}/validatingadmissionpolicybindings/{ACCESS_GUARD}": {"spec": {"validationActions": ["Audit"]}},
    }


def _drift(api: ApiSubject, path: str, content: dict[str, Any]) -> None:
    """Let a stranger take fields over."""
    live = api.send("GET", path).body
    identity = {key: value for key, value in live["metadata"].items() if key in _IDENTITY}
    body = {**content, "apiVersion": live["apiVersion"], "kind": live["kind"]}
    body["metadata"] = identity | content.get("metadata", {})
    query = {"fieldManager": "stranger", "force": "true"}
    reply = api.send("PATCH", path, body, query=query, content_type=APPLY_PATCH)
    assert reply.code == 200, (path, reply)


def main() -> None:
    """Write the list anew."""
    with emulated_subject() as api, recording() as recorded:
        live_through(api)
    write_requests_sent(recorded.forms)


if __name__ == "__main__":
    main()
