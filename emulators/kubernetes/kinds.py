# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The table of requests that are answered: kinds, their paths and the verbs that the product sends."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import unquote

from .schema import (
    ADMISSION_BINDING_SPEC,
    ADMISSION_POLICY_SPEC,
    AGGREGATION_RULE,
    DAEMON_SET_SPEC,
    FLAG,
    POLICY_RULES,
    ROLE_REF,
    ROLE_SUBJECTS,
    TEXT,
    StringMap,
    Struct,
    top_level,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One kind of object.

    Attributes:
        group: its API group, empty for the core.
        verbs: `LIST` and HTTP methods that are answered.
        listed_everywhere: whether LIST is of all namespaces together.
        subresource: the one that can be posted to, if any.
        merged: whether PATCH is answered for JSON merge patches too, beside applies.
        schema: of what is posted or applied; None for a kind that nobody writes over the wire.
    """

    name: str
    plural: str
    group: str
    verbs: frozenset[str]
    namespaced: bool = True
    listed_everywhere: bool = False
    subresource: str | None = None
    merged: bool = False
    schema: Struct | None = None

    @property
    def api_version(self) -> str:
        """`v1`, `apps/v1`, …"""
        return f"{self.group}/v1" if self.group else "v1"

    @property
    def root(self) -> str:
        """The path of its API group: `/api/v1`, `/apis/apps/v1`, …"""
        return f"/apis/{self.group}/v1" if self.group else "/api/v1"

    @property
    def qualified(self) -> str:
        """How messages name the resource: `daemonsets.apps`."""
        return f"{self.plural}.{self.group}" if self.group else self.plural

    @property
    def title(self) -> str:
        """How messages name the kind: `DaemonSet.apps`."""
        return f"{self.name}.{self.group}" if self.group else self.name

    def details(self, name: str | None) -> dict[str, str]:
        """How a Status names an object of it, or all of them."""
        group = {"group": self.group} if self.group else {}
        return {**({"name": name} if name else {}), **group, "kind": self.plural}


_MADE = frozenset({"GET", "POST", "PATCH"})
_KEPT = _MADE | {"DELETE"}
_RBAC = "rbac.authorization.k8s.io"
_ADMISSION = "admissionregistration.k8s.io"

NAMESPACE = Kind(name="Namespace", plural="namespaces", group="", namespaced=False, verbs=_KEPT, schema=top_level())
CONFIG_MAP = Kind(
    name="ConfigMap", plural="configmaps", group="", verbs=_KEPT, schema=top_level(data=StringMap(), immutable=FLAG)
)
SECRET = Kind(
    name="Secret",
    plural="secrets",
    group="",
    verbs=_KEPT,
    schema=top_level(data=StringMap(base64=True), type=TEXT),
)
SERVICE_ACCOUNT = Kind(
    name="ServiceAccount",
    plural="serviceaccounts",
    group="",
    verbs=_KEPT | {"LIST"},
    subresource="token",
    schema=top_level(),
)
CLUSTER_ROLE = Kind(
    name="ClusterRole",
    plural="clusterroles",
    group=_RBAC,
    namespaced=False,
    verbs=_MADE,
    schema=top_level(rules=POLICY_RULES, aggregationRule=AGGREGATION_RULE),
)
CLUSTER_ROLE_BINDING = Kind(
    name="ClusterRoleBinding",
    plural="clusterrolebindings",
    group=_RBAC,
    namespaced=False,
    verbs=_KEPT,
    schema=top_level(roleRef=ROLE_REF, subjects=ROLE_SUBJECTS),
)
ROLE_BINDING = Kind(
    name="RoleBinding",
    plural="rolebindings",
    group=_RBAC,
    verbs=_KEPT | {"LIST"},
    listed_everywhere=True,
    schema=top_level(roleRef=ROLE_REF, subjects=ROLE_SUBJECTS),
)
ADMISSION_POLICY = Kind(
    name="ValidatingAdmissionPolicy",
    plural="validatingadmissionpolicies",
    group=_ADMISSION,
    namespaced=False,
    verbs=_MADE,
    merged=True,
    schema=top_level(spec=ADMISSION_POLICY_SPEC),
)
ADMISSION_BINDING = Kind(
    name="ValidatingAdmissionPolicyBinding",
    plural="validatingadmissionpolicybindings",
    group=_ADMISSION,
    namespaced=False,
    verbs=_MADE,
    merged=True,
    schema=top_level(spec=ADMISSION_BINDING_SPEC),
)
DAEMON_SET = Kind(
    name="DaemonSet",
    plural="daemonsets",
    group="apps",
    verbs=_KEPT,
    merged=True,
    schema=top_level(spec=DAEMON_SET_SPEC),
)
NODE = Kind(name="Node", plural="nodes", group="", namespaced=False, verbs=frozenset({"LIST"}))

KINDS = (
    NAMESPACE,
    CONFIG_MAP,
    SECRET,
    SERVICE_ACCOUNT,
    CLUSTER_ROLE,
    CLUSTER_ROLE_BINDING,
    ROLE_BINDING,
    ADMISSION_POLICY,
    ADMISSION_BINDING,
    DAEMON_SET,
    NODE,
)
_BY_PATH = {(kind.group, kind.plural): kind for kind in KINDS}


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """What a method and path ask for.

    Attributes:
        verb: the HTTP method, or LIST for a GET of a collection.
        name: None for a collection.
    """

    verb: str
    kind: Kind
    namespace: str | None
    name: str | None
    subresource: str | None

    @property
    def call(self) -> str:
        """The call's name in logs and fault scripts: `POST daemonsets`, `POST serviceaccounts/token`, `LIST nodes`."""
        return f"{self.verb} {self.kind.plural}" + (f"/{self.subresource}" if self.subresource else "")

    @property
    def mutating(self) -> bool:
        """Whether it changes an object. A TokenRequest does not."""
        return self.subresource is None and self.verb in ("POST", "PATCH", "DELETE")

    @property
    def is_answered(self) -> bool:
        """Whether the product sends it."""
        if self.subresource is not None:
            return self.verb == "POST" and self.subresource == self.kind.subresource
        return self.verb in self.kind.verbs and (self.name is None) == (self.verb in ("POST", "LIST"))


def route(method: str, path: str) -> Route | None:
    """Read a method and path; None for a path of no kind known here."""
    parts = [unquote(part) for part in path.strip("/").split("/")]
    if parts[:2] == ["api", "v1"]:
        group, rest = "", parts[2:]
    elif parts[:1] == ["apis"] and parts[2:3] == ["v1"]:
        group, rest = parts[1], parts[3:]
    else:
        return None
    namespace = None
    if rest[:1] == ["namespaces"] and len(rest) >= 3 and (group, rest[2]) in _BY_PATH:
        namespace, rest = rest[1], rest[2:]
    if not 1 <= len(rest) <= 3 or not all(rest):
        return None
    kind = _BY_PATH.get((group, rest[0]))
    if kind is None:
        return None
    name = rest[1] if len(rest) > 1 else None
    subresource = rest[2] if len(rest) > 2 else None
    verb = "LIST" if method == "GET" and name is None else method
    in_namespaces = kind.namespaced and not (verb == "LIST" and kind.listed_everywhere)
    if in_namespaces != (namespace is not None):
        return None
    return Route(verb=verb, kind=kind, namespace=namespace, name=name, subresource=subresource)
