# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""kubernetesClusters: a tenant's own clusters, and a look at those behind its pools."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Annotated, ClassVar

from pydantic import BaseModel, Field

from ansible_collections.better_compute.fleet.plugins.module_utils._core.documents import patterns
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model import limits
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.clock import stamp
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import Code, Problem
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.ids import ClusterId, TenantId
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.states import ClusterMode
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.clusters import calls
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.clusters.constraints import (
    input_problems,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.clusters.credentials import (
    LEAST_SECONDS,
    MOST_NAMESPACES,
    MOST_SECONDS,
    MOST_SUBJECT_CHARACTERS,
    AccessRequest,
    credential_problems,
    issue_credentials,
    revoke_credentials,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.clusters.reading import (
    clusters_by_id,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.clusters.views import ClusterView
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.clusters.wanted import (
    WantedCluster,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.node_pools.constraints import (
    input_problems as node_pool_problems,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.session import Session

from .bodies import Body, Key, text
from .call import READ, UPDATE, Call
from .node_pools import NodePoolFields, OfCluster
from .views import Cluster, Clusters, Credentials, Revoked, View

Version = Annotated[str, Field(pattern=patterns.KUBERNETES_VERSION, description="A Kubernetes minor version: 1.34.")]

Subject = Annotated[str, Field(min_length=1, max_length=MOST_SUBJECT_CHARACTERS)]


class CreateCluster(Body):
    """A cluster to make."""

    lists: ClassVar[Mapping[str, type[BaseModel]]] = {"nodePools": NodePoolFields}

    name: Annotated[
        str,
        text(
            limits.CLUSTER_NAME,
            "Unique among the tenant's clusters that are not deleted; also its name at the provider.",
            most=40,
        ),
    ]
    account: Annotated[
        str,
        Field(pattern=patterns.NAME, description="A provider account's name: the tenant's own, else the platform's."),
    ]
    location: Annotated[str, Field(pattern=patterns.PLACE, description="The provider's name of the place.")]
    mode: Annotated[ClusterMode, Field(strict=False, description="autopilot is GKE's, and takes no node pools.")] = (
        ClusterMode.STANDARD
    )
    version: Version | None = None
    private_nodes: bool = Field(default=False, description="Nodes without public addresses.")
    node_pools: list[NodePoolFields] | None = Field(default=None, description="The first ones.")
    idempotency_key: Key | None = None

    @property
    def asked(self) -> WantedCluster:
        """What operations are asked for."""
        return WantedCluster(
            name=self.name,
            account=self.account,
            location=self.location,
            mode=self.mode,
            version=self.version,
            private_nodes=self.private_nodes,
            node_pools=tuple(
                node_pool.wanted(path=f"node_pools[{index}]") for index, node_pool in enumerate(self.node_pools or ())
            ),
            idempotency_key=self.idempotency_key,
        )

    def problems(self) -> Iterable[Problem]:
        """As operations find them."""
        asked = self.asked
        yield from input_problems(asked)
        for node_pool in asked.node_pools:
            yield from node_pool_problems(replace(node_pool, cluster_id=ClusterId("")))  # it is not there yet


class ListClusters(Body):
    """Whose clusters."""


class UpdateCluster(OfCluster):
    """A change in place."""

    version: Version


class GiveCredentials(OfCluster):
    """Who wants to get in, and where."""

    subject: Subject | None = Field(
        default=None, description="Who gets in, as you name it; left out, `api/` and the token's name."
    )
    namespaces: Annotated[
        list[str],
        Field(
            min_length=1,
            max_length=MOST_NAMESPACES,
            description="The only ones that the subject gets into; made where they are missing.",
        ),
    ]
    expires_seconds: Annotated[int, Field(ge=LEAST_SECONDS, le=MOST_SECONDS, description="The token's life.")] = 3600

    def problems(self) -> Iterable[Problem]:
        """As operations find them."""
        return credential_problems(namespaces=self.namespaces or (), seconds=self.expires_seconds)


class TakeCredentials(OfCluster):
    """Whose access is taken."""

    subject: Subject | None = Field(default=None, description="Left out, `api/` and the token's name.")


def _create(session: Session, body: CreateCluster) -> View:
    record = calls.create_cluster(session, tenant_id=TenantId(body.tenant_id), wanted=body.asked)
    return _recorded(session, record.id)


def _get(session: Session, body: OfCluster) -> View:
    return _view(calls.get_cluster(session, tenant_id=TenantId(body.tenant_id), cluster_id=body.cluster))


def _list(session: Session, body: ListClusters) -> View:
    found = calls.list_clusters(session, tenant_id=TenantId(body.tenant_id))
    return Clusters(clusters=[_view(view) for view in found])


def _update(session: Session, body: UpdateCluster) -> View:
    record = calls.upgrade_cluster(
        session, tenant_id=TenantId(body.tenant_id), cluster_id=body.cluster, version=body.version
    )
    return _recorded(session, record.id)


def _delete(session: Session, body: OfCluster) -> View:
    record = calls.delete_cluster(session, tenant_id=TenantId(body.tenant_id), cluster_id=body.cluster)
    return _recorded(session, record.id)


def _recorded(session: Session, cluster_id: ClusterId) -> Cluster:
    [view] = clusters_by_id(session, [cluster_id])
    return _view(view)


def _view(view: ClusterView) -> Cluster:
    record = view.record
    more = {"substrate_pool_id": record.substrate_pool_id, "provider_account_id": str(record.account_id)}
    return Cluster.of({**view.to_data(), **more})


def _access(session: Session, body: GiveCredentials | TakeCredentials) -> AccessRequest:
    return AccessRequest(
        tenant_id=TenantId(body.tenant_id), subject=body.subject or session.caller, cluster_id=body.cluster
    )


def _credentials(session: Session, body: GiveCredentials) -> View:
    asked = _access(session, body)
    given = issue_credentials(session, asked, namespaces=body.namespaces, seconds=body.expires_seconds)
    return Credentials.of(
        {
            "cluster_id": body.cluster_id,
            "subject": asked.subject,
            "account": asked.account,
            "namespaces": body.namespaces,
            "endpoint": given.endpoint,
            "ca_pem": given.ca_pem,
            "token": given.token.reveal(),
            "expires_at": stamp(given.expires_at),
        }
    )


def _revoke(session: Session, body: TakeCredentials) -> View:
    asked = _access(session, body)
    revoked = revoke_credentials(session, asked)
    return Revoked.of({"cluster_id": body.cluster_id, "subject": asked.subject, "revoked": revoked})


_WHOSE = {"tenantId": "platform"}
_WHICH = {**_WHOSE, "clusterId": "kcl_01kbb6z6h7aam2zqmyq60b4qdt"}
_RESOURCE = "kubernetesClusters"

CALLS = (
    Call(
        resource=_RESOURCE,
        method="create",
        summary="Make a cluster of the tenant's own, with its first node pools. It is returned pending.",
        permission=UPDATE,
        takes=CreateCluster,
        gives=Cluster,
        does=_create,
        codes=(Code.NOT_FOUND, Code.CONFLICT, Code.INVALID_STATE, Code.QUOTA_EXCEEDED, Code.UNSUPPORTED),
        example={
            **_WHOSE,
            "name": "training",
            "account": "managed-k8s",
            "location": "us-east-1",
            "version": "1.34",
            "nodePools": [{"name": "system", "machineType": "m7i.large", "nodeCount": 2}],
            "idempotencyKey": "training-1",
        },
    ),
    Call(
        resource=_RESOURCE,
        method="get",
        summary="One of the tenant's clusters, with its node pools.",
        permission=READ,
        takes=OfCluster,
        gives=Cluster,
        does=_get,
        codes=(Code.NOT_FOUND,),
        example=_WHICH,
    ),
    Call(
        resource=_RESOURCE,
        method="list",
        summary="The tenant's clusters that are not deleted, those behind its pools too, by name.",
        permission=READ,
        takes=ListClusters,
        gives=Clusters,
        does=_list,
        codes=(),
        example=_WHOSE,
    ),
    Call(
        resource=_RESOURCE,
        method="update",
        summary="Raise a cluster's Kubernetes version in place. It is returned updating.",
        permission=UPDATE,
        takes=UpdateCluster,
        gives=Cluster,
        does=_update,
        codes=(Code.NOT_FOUND, Code.INVALID_STATE),
        example={**_WHICH, "version": "1.35"},
    ),
    Call(
        resource=_RESOURCE,
        method="delete",
        summary="Mark a cluster for deletion, its node pools with it. It is returned deleting.",
        permission=UPDATE,
        takes=OfCluster,
        gives=Cluster,
        does=_delete,
        codes=(Code.NOT_FOUND, Code.INVALID_STATE),
        example=_WHICH,
    ),
    Call(
        resource=_RESOURCE,
        method="credentials",
        summary="A way into a created cluster: for one subject, some namespaces, and a while. Asks the cluster.",
        permission=UPDATE,
        takes=GiveCredentials,
        gives=Credentials,
        does=_credentials,
        codes=(Code.NOT_FOUND, Code.CONFLICT, Code.INVALID_STATE, Code.UNSUPPORTED),
        example={**_WHICH, "subject": "ci", "namespaces": ["jobs"], "expiresSeconds": 3600},
        slow=True,
    ),
    Call(
        resource=_RESOURCE,
        method="revokeCredentials",
        summary="Take a subject's access to a created cluster, with all its tokens. Asks the cluster.",
        permission=UPDATE,
        takes=TakeCredentials,
        gives=Revoked,
        does=_revoke,
        codes=(Code.NOT_FOUND, Code.CONFLICT, Code.INVALID_STATE, Code.UNSUPPORTED),
        example={**_WHICH, "subject": "ci"},
        slow=True,
    ),
)
