# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who is asking, and may they: the cloud's own tokens, and those of service accounts issued here.

A cloud's user may do everything or nothing, as its access entry says. A service account may do everything while a
binding of it to cluster-admin exists, and nothing otherwise.
"""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Protocol

from ..engine import Clock
from .kinds import CLUSTER_ROLE_BINDING, NAMESPACE, SERVICE_ACCOUNT, Route
from .objects import ObjectStore
from .statuses import ApiRefusal, invalid, not_found

SHORTEST_TOKEN_SECONDS = 600
"""TokenRequest refuses less."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterUser:
    """Who a token is.

    Attributes:
        name: as refusals name it.
        admin: whether it may do everything.
    """

    name: str
    admin: bool


class Authenticator(Protocol):
    """The cloud's side of a cluster: knows its own bearer tokens and what its access entries grant."""

    def user(self, token: str, cluster: str) -> ClusterUser | None:
        """Who this token is on that cluster; None when it is none of the cloud's, is expired, or has no entry."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IssuedToken:
    """A service account's token, whose it is and when it ends."""

    token: str = field(repr=False)
    account_uid: str
    expires_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class _Issued:
    namespace: str
    name: str
    uid: str
    expires_at: datetime


class AccessControl:
    """Authentication and authorisation of one cluster. Called with the cluster's lock held."""

    def __init__(self, *, cluster: str, authenticator: Authenticator, store: ObjectStore, clock: Clock) -> None:
        """Arguments: authenticator: the cloud's."""
        self._cluster = cluster
        self._authenticator = authenticator
        self._store = store
        self._clock = clock
        self._issued: dict[str, _Issued] = {}

    def authenticate(self, authorization: str | None) -> ClusterUser:
        """Who sends this header.

        Raises:
            ApiRefusal: 401.
        """
        scheme, _space, token = (authorization or "").partition(" ")
        user = None
        if scheme.lower() == "bearer" and token:
            user = self._service_account(token) or self._authenticator.user(token, self._cluster)
        if user is None:
            raise ApiRefusal(401, "Unauthorized")
        return user

    def authorize(self, user: ClusterUser, route: Route) -> None:
        """Let pass or refuse.

        Raises:
            ApiRefusal: 403.
        """
        if user.admin:
            return
        verb = {"POST": "create", "GET": "get", "PATCH": "patch", "DELETE": "delete", "LIST": "list"}.get(
            route.verb, route.verb.lower()
        )
        resource = route.kind.plural + (f"/{route.subresource}" if route.subresource else "")
        # A namespace counts as lying in itself.
        namespace = route.name if route.kind is NAMESPACE else route.namespace
        place = f'in the namespace "{namespace}"' if namespace else "at the cluster scope"
        raise forbidden(
            route,
            f'User "{user.name}" cannot {verb} resource "{resource}" in API group "{route.kind.group}" {place}',
        )

    def issue(self, namespace: str, name: str, *, seconds: int) -> IssuedToken:
        """A token of a service account.

        Raises:
            ApiRefusal: 404, or 422 for a life that is too short.
        """
        account = self._store.get(SERVICE_ACCOUNT, namespace, name)
        if account is None:
            raise not_found("serviceaccounts", name)
        if seconds < SHORTEST_TOKEN_SECONDS:
            problem = f"Invalid value: {seconds}: may not specify a duration less than 10 minutes"
            raise invalid("TokenRequest.authentication.k8s.io", "", [("spec.expirationSeconds", problem)])
        token = secrets.token_urlsafe(48)
        expires_at = self._clock.now() + timedelta(seconds=seconds)
        uid = account["metadata"]["uid"]
        self._issued[_digest(token)] = _Issued(namespace=namespace, name=name, uid=uid, expires_at=expires_at)
        return IssuedToken(token=token, account_uid=uid, expires_at=expires_at)

    def _service_account(self, token: str) -> ClusterUser | None:
        issued = self._issued.get(_digest(token))
        if issued is None or issued.expires_at <= self._clock.now():
            return None
        account = self._store.get(SERVICE_ACCOUNT, issued.namespace, issued.name)
        if account is None or account["metadata"]["uid"] != issued.uid:
            return None
        return ClusterUser(
            name=f"system:serviceaccount:{issued.namespace}:{issued.name}",
            admin=self._is_bound_to_admin(issued.namespace, issued.name),
        )

    def _is_bound_to_admin(self, namespace: str, name: str) -> bool:
        wanted = {"kind": "ServiceAccount", "name": name, "namespace": namespace}
        return any(
            binding["roleRef"]["name"] == "cluster-admin"
            and any(wanted.items() <= subject.items() for subject in binding.get("subjects", []))
            for binding in self._store.all_of(CLUSTER_ROLE_BINDING)
        )


def forbidden(route: Route, why: str, **details: object) -> ApiRefusal:
    """403 for what was asked."""
    what = route.kind.qualified + (f' "{route.name}"' if route.name else "")
    return ApiRefusal(
        403,
        f"{what} is forbidden: {why}",
        details={**route.kind.details(route.name), **details},
    )


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
