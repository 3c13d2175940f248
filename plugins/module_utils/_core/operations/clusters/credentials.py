# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""kubernetesClusters.credentials: a tenant's way into a created cluster, for one subject and a bounded time.

The provider's credential opens our own (as in a pass), which gives the subject its account and asks for its token.
Nothing is recorded: what there is stands in the cluster, and the token in the answer alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeVar

from ...cluster import access, objects
from ...cluster.access_guard import PROTECTED_NAMESPACES, GuardUnavailable
from ...cluster.api import ClusterApi, require_client
from ...cluster.names import ACCESS_NAMESPACE
from ...cluster.objects import Owner
from ...cluster.tenant_access import account_name, give_access, has_access, take_access
from ...model.errors import (
    ClusterAccessDenied,
    ClusterConflict,
    ClusterError,
    ClusterObjectMissing,
    ClusterUnreachable,
    Code,
    InvalidInput,
    NotOurs,
    OperationError,
    OperationInProgress,
    PermissionDenied,
    Problem,
    ProviderError,
    Throttled,
    Unavailable,
)
from ...model.ids import ClusterId, TenantId, is_id
from ...model.observed import BootstrapAccess, ObservedCluster
from ...model.records import ClusterRecord
from ...model.secret import Secret
from ...model.states import ClusterState, Intent
from ...providers.contract import Driver
from ...reconcile.specs import cluster_spec
from ...store import clusters, fleet
from ..node_pools.constraints import shown
from ..node_pools.finding import cluster_meant
from ..session import Session
from .planning import check_tenant

LEAST_SECONDS, MOST_SECONDS = 600, 86400
"""A token's life: TokenRequest gives no shorter one, and EKS no longer one."""

MOST_NAMESPACES = 50
"""Of one subject: each is read on every call."""

MOST_SUBJECT_CHARACTERS = 256
_NAMESPACE = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?", re.ASCII)
_KUBERNETES_OWN = re.compile(r"kube-.*|default", re.ASCII)

_GRANT_LOOKS = 12
_GRANT_SECONDS = 5.0
"""Between looks: EKS knows of a new access entry after some seconds, at most a minute."""

_COME_AGAIN = (ClusterUnreachable, Unavailable, Throttled, OperationInProgress)

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessRequest:
    """Who wants to get where.

    Attributes:
        pool, cluster_id: one of them names the cluster.
        subject: who gets in; as a caller names itself.
    """

    tenant_id: TenantId
    subject: str
    pool: str | None = None
    cluster_id: ClusterId | None = None

    @property
    def account(self) -> str:
        """The subject's service account in `bc-access`."""
        return account_name(self.tenant_id, self.subject)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterCredential:
    """What a subject needs to get in.

    Attributes:
        endpoint: the URL of the cluster's Kubernetes API.
        ca_pem: the certificate that signs it, PEM.
        expires_at: when the token ends, as the cluster says it.
    """

    endpoint: str
    ca_pem: str
    token: Secret = field(repr=False)
    expires_at: datetime


def named_cluster(session: Session, asked: AccessRequest) -> ClusterRecord:
    """The cluster that is named, in whatever state; a deleted one too, where it is named by its id.

    Raises:
        InvalidInput: the tenant or the subject is none.
        OperationError: NOT_FOUND (also another tenant's), INVALID_STATE (adopted).
    """
    check_tenant(asked.tenant_id)
    if not (1 <= len(asked.subject) <= MOST_SUBJECT_CHARACTERS and asked.subject.isprintable()):
        expected = f"1 to {MOST_SUBJECT_CHARACTERS} printable characters"
        raise InvalidInput([Problem(path="subject", message=f"expected {expected}, found {shown(asked.subject)}")])
    with session.store.read() as tx:
        cluster = None
        if asked.cluster_id is not None and is_id(asked.cluster_id):
            cluster = clusters.cluster(tx, asked.cluster_id)
        if cluster is None or cluster.tenant_id != asked.tenant_id:
            _pool, cluster = cluster_meant(tx, pool=asked.pool, cluster_id=asked.cluster_id, tenant_id=asked.tenant_id)
    if cluster.adopted:
        raise OperationError(
            Code.INVALID_STATE,
            f"cluster {cluster.name} is adopted: an account made in it would outlive the pool on a cluster that is not "
            "ours. Reach it with the provider's credentials.",
        )
    return cluster


def find_cluster(session: Session, asked: AccessRequest) -> ClusterRecord:
    """The cluster that is named, if subjects can be let into it, as it is recorded: no provider is asked.

    Raises:
        InvalidInput: the tenant or the subject is none.
        OperationError: NOT_FOUND (also another tenant's), INVALID_STATE (adopted, deleting, not up yet).
    """
    cluster = named_cluster(session, asked)
    if cluster.state in (ClusterState.DELETING, ClusterState.DELETED) or _pool_goes(session, cluster):
        raise OperationError(Code.INVALID_STATE, f"cluster {cluster.name} is being deleted: nobody is let in any more")
    if cluster.outputs is None:
        raise OperationError(
            Code.INVALID_STATE, f"cluster {cluster.name} is {cluster.state} and has no Kubernetes API yet: wait for it"
        )
    return cluster


def credential_problems(*, namespaces: Sequence[str], seconds: int) -> list[Problem]:
    """What is wrong with a request's namespaces and the life that it asks for."""
    problems = []
    if not 1 <= len(namespaces) <= MOST_NAMESPACES:
        problems.append(Problem(path="namespaces", message=f"expected 1 to {MOST_NAMESPACES}, found {len(namespaces)}"))
    for index, name in enumerate(namespaces):
        path = f"namespaces[{index}]"
        if not _NAMESPACE.fullmatch(name):
            expected = "1 to 63 lower-case ASCII letters, digits or '-', and no '-' first or last"
            problems.append(Problem(path=path, message=f"expected {expected}, found {shown(name)}"))
        elif name in PROTECTED_NAMESPACES or _KUBERNETES_OWN.fullmatch(name):
            problems.append(Problem(path=path, message=f"{name} is no tenant's: take a name of your own"))
        elif name in namespaces[:index]:
            problems.append(Problem(path=path, message=f"{name} is named twice"))
    if not LEAST_SECONDS <= seconds <= MOST_SECONDS:
        expected = f"{LEAST_SECONDS} to {MOST_SECONDS} seconds"
        problems.append(Problem(path="expires_seconds", message=f"expected {expected}, found {seconds}"))
    return problems


def issue_credentials(
    session: Session, asked: AccessRequest, *, namespaces: Sequence[str], seconds: int
) -> ClusterCredential:
    """Let the subject into these namespaces of the cluster, and no others of it.

    Arguments:
        namespaces: made where they are missing.
        seconds: how long the token is to live.

    Raises:
        InvalidInput: every problem.
        OperationError: as find_cluster; INVALID_STATE too when the provider has no such cluster or it does not serve;
            UNSUPPORTED (no admission policies: older than Kubernetes 1.30), CONFLICT (an object of our names is a
            stranger's, or changed meanwhile), FORBIDDEN, UNAVAILABLE (come again).
    """
    problems = credential_problems(namespaces=namespaces, seconds=seconds)
    if problems:
        raise InvalidInput(problems)
    cluster = find_cluster(session, asked)
    require_client()
    with _told(cluster):
        driver = _driver(session, cluster)
        observed = driver.get_cluster(cluster_spec(cluster))
        if observed is None or not observed.serves:
            status = "gone" if observed is None else str(observed.status)
            raise OperationError(Code.INVALID_STATE, f"cluster {cluster.name} is {status} at its provider")
        bootstrap, issued = _inside(
            session,
            driver,
            cluster,
            observed,
            lambda api: give_access(
                api,
                owner=_owner(cluster),
                tenant_id=asked.tenant_id,
                subject=asked.subject,
                namespaces=namespaces,
                seconds=seconds,
            ),
        )
    return ClusterCredential(
        endpoint=bootstrap.endpoint, ca_pem=bootstrap.ca_pem, token=issued.token, expires_at=issued.expires_at
    )


def revoke_credentials(session: Session, asked: AccessRequest, *, only_look: bool = False) -> bool:
    """Take the subject's access to the cluster, with all its tokens. What it made in its namespaces stays.

    Arguments:
        only_look: say whether there is something to take, and leave it.

    Returns:
        Whether it had any. A cluster that is gone took it along.

    Raises:
        InvalidInput: the tenant or the subject is none.
        OperationError: as issue_credentials.
    """
    cluster = named_cluster(session, asked)
    if cluster.state == ClusterState.DELETED or cluster.outputs is None:
        return False
    require_client()
    with _told(cluster):
        driver = _driver(session, cluster)
        observed = driver.get_cluster(cluster_spec(cluster))
        if observed is None:
            return False
        if not observed.serves:
            raise OperationError(Code.UNAVAILABLE, f"cluster {cluster.name} is {observed.status} at its provider")
        if only_look:
            with access.bootstrap_api(driver.bootstrap_access(observed)) as api:
                return has_access(api, tenant_id=asked.tenant_id, subject=asked.subject)
        _bootstrap, taken = _inside(
            session,
            driver,
            cluster,
            observed,
            lambda api: take_access(api, owner=_owner(cluster), tenant_id=asked.tenant_id, subject=asked.subject),
        )
        return taken


def _pool_goes(session: Session, cluster: ClusterRecord) -> bool:
    """Whether it backs a pool that is torn down; its own state says so only once a pass got there."""
    if cluster.substrate_pool_id is None:
        return False
    with session.store.read() as tx:
        pool = fleet.pool(tx, cluster.substrate_pool_id)
    return pool is None or pool.intent == Intent.TEAR_DOWN


def _owner(cluster: ClusterRecord) -> Owner:
    return cluster.substrate_pool_id or cluster.id


def _driver(session: Session, cluster: ClusterRecord) -> Driver:
    with session.store.read() as tx:
        account = fleet.account(tx, cluster.account_id)
    if account is None:
        raise AssertionError("an account that has a cluster is never dropped")
    return session.open_driver(account)


def _inside(
    session: Session,
    driver: Driver,
    cluster: ClusterRecord,
    observed: ObservedCluster,
    work: Callable[[ClusterApi], _T],
) -> tuple[BootstrapAccess, _T]:
    """Do something in the cluster with our own credential; what is missing of our access is made once.

    `work` may be done twice. Refused at the door, our principal is made an administrator, which may take a while to be
    in effect; refused inside, our account's binding is gone, and is made again.

    Returns:
        The provider's way in, which knows the endpoint and its certificate, and what `work` gave.
    """
    owner = _owner(cluster)
    bootstrap = _let_in(session, driver, cluster, observed)
    try:
        with access.open_cluster(bootstrap, pool_id=owner) as api:
            return bootstrap, work(api)
    except ClusterAccessDenied:
        with access.bootstrap_api(bootstrap) as provider:
            access.make_access(provider, pool_id=owner)
        with access.open_cluster(bootstrap, pool_id=owner) as api:
            return bootstrap, work(api)


def _let_in(session: Session, driver: Driver, cluster: ClusterRecord, observed: ObservedCluster) -> BootstrapAccess:
    """The provider's way in, once the cluster takes it."""
    bootstrap = driver.bootstrap_access(observed)
    if _is_taken(bootstrap):
        return bootstrap
    driver.grant_access(cluster_spec(cluster))
    for _look in range(_GRANT_LOOKS):
        bootstrap = driver.bootstrap_access(observed)
        if _is_taken(bootstrap):
            return bootstrap
        session.sleep(_GRANT_SECONDS)
    raise OperationError(
        Code.UNAVAILABLE,
        f"access to cluster {cluster.name} was granted to the account's principal and is not in effect yet: try again",
    )


def _is_taken(bootstrap: BootstrapAccess) -> bool:
    """Whether the cluster lets the provider's credential in: it is asked for our namespace, which need not be there."""
    with access.bootstrap_api(bootstrap) as api:
        try:
            objects.read(api, "Namespace", ACCESS_NAMESPACE)
        except ClusterAccessDenied:
            return False
    return True


@contextmanager
def _told(cluster: ClusterRecord) -> Iterator[None]:
    """Have errors of the provider and the cluster told as the API's."""
    doing = f"cluster {cluster.name}"
    try:
        yield
    except GuardUnavailable as error:
        runs = f"runs Kubernetes {cluster.outputs.version}" if cluster.outputs else "is too old"
        raise OperationError(
            Code.UNSUPPORTED,
            f"{doing} {runs} and has no validating admission policies (admissionregistration.k8s.io/v1, there since "
            "Kubernetes 1.30): without the access guard nobody is let in. Upgrade the cluster.",
        ) from error
    except _COME_AGAIN as error:
        raise OperationError(Code.UNAVAILABLE, f"{doing} cannot be reached: {error}") from error
    except (ClusterAccessDenied, PermissionDenied) as error:
        raise OperationError(Code.FORBIDDEN, f"{doing}: {error}") from error
    except (NotOurs, ClusterConflict, ClusterObjectMissing) as error:
        raise OperationError(Code.CONFLICT, f"{doing}: {error}") from error
    except (ClusterError, ProviderError) as error:
        raise OperationError(Code.INVALID_STATE, f"{doing}: {error}") from error
