# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""All that the product does in a cluster, once: it sends each request of the list, which `python -m` writes."""

from __future__ import annotations

from datetime import UTC, datetime

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
from ansible_collections.better_compute.fleet.plugins.module_utils._core.cluster.node_list import list_nodes
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.agent import AgentSettings
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.ids import PoolId
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
_DRIFTED = ("/api/v1/namespaces/better-compute", "/api/v1/namespaces/better-compute/configmaps/bcd")


def live_through(api: ApiSubject) -> None:
    """Bring a substrate's part in the cluster up, keep it through changes, and take it away again."""
    bootstrap = bootstrap_of(api)
    for number in range(_MORE_THAN_A_PAGE):
        api.node(str(number), **{_LABEL: _POOL})
    with open_cluster(bootstrap, pool_id=_POOL) as own, bootstrap_api(bootstrap) as admin:
        # Somebody else at the same time: what stands there already is looked at.
        _bring_up(admin)
        open_cluster(bootstrap, pool_id=_POOL).close()
        for path in _DRIFTED:
            _drift(api, path)
        _bring_up(own, image="registry.example/bcd:2.0", token="two")
        list_nodes(own, pool_id=_POOL)
        _take_away(api, own, admin)


def bootstrap_of(api: ApiSubject) -> BootstrapAccess:
    """The administrator's way in, as a provider would hand it out."""
    return BootstrapAccess(endpoint=api.endpoint, ca_pem=api.ca_pem, token=Secret(api.token), expires_at=_LATER)


def _bring_up(cluster: ClusterApi, *, image: str = "registry.example/bcd:1.0", token: str = "one") -> None:
    settings = AgentSettings(
        image=image, gateway_url="https://gateway.example:7443", pins=("cGlu",), runtime_class="nvidia"
    )
    hold_claim(cluster, pool_id=_POOL)
    apply_agent(cluster, pool_id=_POOL, agent=settings)
    write_join_token(cluster, pool_id=_POOL, token=Secret(token))


def _take_away(api: ApiSubject, own: ClusterApi, admin: ClusterApi) -> None:
    delete_join_token(own, pool_id=_POOL)
    write_join_token(own, pool_id=_POOL, token=Secret("three"))
    api.keeper.wait_until(lambda: remove_agent(own, pool_id=_POOL))
    drop_claim(admin, pool_id=_POOL)
    api.keeper.wait_until(lambda: remove_access(admin, pool_id=_POOL))


def _drift(api: ApiSubject, path: str) -> None:
    """Let a stranger change the labels or data that we set."""
    live = api.send("GET", path).body
    content = {"data": {"BCD_PINS": "theirs"}} if "data" in live else {}
    head = {
        key: live["metadata"][key] for key in ("name", "namespace", "uid", "resourceVersion") if key in live["metadata"]
    }
    labels = {"labels": {"pod-security.kubernetes.io/enforce": "baseline"}}
    body = {"apiVersion": live["apiVersion"], "kind": live["kind"], "metadata": head | labels, **content}
    api.send("PATCH", path, body, query={"fieldManager": "stranger", "force": "true"}, content_type=APPLY_PATCH)


def main() -> None:
    """Write the list anew."""
    with emulated_subject() as api, recording() as recorded:
        live_through(api)
    write_requests_sent(recorded.forms)


if __name__ == "__main__":
    main()
