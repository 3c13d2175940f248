# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One HTTP request as it came in, read into what the API understands. What is unknown in it is refused."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from . import schema
from .kinds import Route
from .objects import Object
from .statuses import ApiRefusal, invalid, not_emulated

JSON = "application/json"
APPLY_PATCH = "application/apply-patch+yaml"
MERGE_PATCH = "application/merge-patch+json"

_UNSENT_FORMS = frozenset(
    {
        "application/yaml",
        "application/vnd.kubernetes.protobuf",
        "application/json-patch+json",
        "application/strategic-merge-patch+json",
    }
)
"""Content types that a kube-apiserver takes at one request or another, and the product never sends."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A request.

    Attributes:
        target: path and query as on the request line.
        headers: by lower-case name.
    """

    method: str
    target: str
    headers: Mapping[str, str] = field(repr=False)
    body: bytes = field(repr=False)

    @property
    def path(self) -> str:
        """The path without the query."""
        return urlsplit(self.target).path

    def query(self, *known: str) -> dict[str, str]:
        """The query's parameters.

        Raises:
            ApiRefusal: 501 for one that is not among the known, or comes twice.
        """
        pairs = parse_qsl(urlsplit(self.target).query, keep_blank_values=True)
        query = dict(pairs)
        unknown = sorted(set(query) - set(known))
        if unknown or len(query) != len(pairs):
            raise not_emulated(f"{self.method} with the parameters {unknown or 'that come twice'}")
        return query

    def require_accept(self, form: str) -> None:
        """Refuse to answer in another form than the product asks for here.

        Raises:
            ApiRefusal: 501.
        """
        accepted = self.headers.get("accept", "")
        if accepted != form:
            raise not_emulated(f"{self.method} {self.path} in the form {accepted!r}")

    def sent_object(self, content_type: str) -> dict[str, Any]:
        """The body's object.

        Raises:
            ApiRefusal: 501 for another content type of the API's, or none; 415 for any other, 400 for no object.
        """
        sent_type = self.headers.get("content-type", "")
        if not sent_type or (
            sent_type != content_type and sent_type in _UNSENT_FORMS | {JSON, APPLY_PATCH, MERGE_PATCH}
        ):
            raise not_emulated(f"{self.method} with a body of type {sent_type!r}")
        if sent_type != content_type:
            raise ApiRefusal(
                415, f"the body of the request was in an unknown format - accepted media types include: {content_type}"
            )
        sent = self.peek()
        if sent is None:
            raise ApiRefusal(400, "the object provided is unrecognized (must be of type …): not a JSON object")
        return sent

    def peek(self) -> dict[str, Any] | None:
        """The body's object, None when it is none."""
        try:
            sent = json.loads(self.body)
        except ValueError:
            return None
        return sent if isinstance(sent, dict) else None


def named_object(request: Request, route: Route, content_type: str) -> Object:
    """The body as an object of the route's kind and namespace.

    Raises:
        ApiRefusal: 400 for another kind, an unknown field (500 in an apply) or another namespace; 422 without a name.
    """
    kind = route.kind
    sent = request.sent_object(content_type)
    _require_kind(sent, kind.api_version, kind.name)
    assert kind.schema is not None
    applied = content_type == APPLY_PATCH
    try:
        schema.check(kind.schema, sent, keyed=applied)
    except schema.Undecodable as problem:
        if applied:
            # A kube-apiserver has no reason for it, only an error of its own: 500.
            raise ApiRefusal(
                500, f"failed to create typed patch object (Kind={kind.name}): {problem}", reason=""
            ) from None
        raise _unhandled(kind.name, f"strict decoding error: {problem}") from None
    metadata = sent.setdefault("metadata", {})
    if not metadata.get("name"):
        raise invalid(kind.name, "", [("metadata.name", "Required value: name or generateName is required")])
    if metadata.get("namespace") != route.namespace:
        raise ApiRefusal(400, "the namespace of the provided object does not match the namespace sent on the request")
    if route.name is not None and metadata["name"] != route.name:
        raise ApiRefusal(
            400,
            f"the name of the object ({metadata['name']}) does not match the name on the URL ({route.name})",
        )
    return sent


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteOptions:
    """What a DELETE asks for."""

    uid: str | None
    foreground: bool


def delete_options(request: Request) -> DeleteOptions:
    """Read the body of a DELETE.

    Raises:
        ApiRefusal: 501 for anything but preconditions.uid and propagationPolicy, 422 for a policy that there is not.
    """
    sent = request.sent_object(JSON)
    _require_kind(sent, "v1", "DeleteOptions")
    conditions = sent.get("preconditions", {})
    policy = sent.get("propagationPolicy", "Background")
    known = {"apiVersion", "kind", "preconditions", "propagationPolicy"}
    if policy not in ("Background", "Foreground", "Orphan"):
        problem = 'Unsupported value: supported values: "Background", "Foreground", "Orphan"'
        raise invalid("DeleteOptions.meta.k8s.io", "", [("propagationPolicy", problem)])
    if set(sent) - known or set(conditions) - {"uid"} or policy == "Orphan":
        raise not_emulated("a delete with more than preconditions.uid and propagationPolicy Background or Foreground")
    return DeleteOptions(uid=conditions.get("uid"), foreground=policy == "Foreground")


def token_seconds(request: Request) -> int:
    """The life that a TokenRequest asks for, in seconds; an hour when it does not say.

    Raises:
        ApiRefusal: 400 for another object.
    """
    sent = request.sent_object(JSON)
    _require_kind(sent, "authentication.k8s.io/v1", "TokenRequest")
    spec = sent.get("spec", {})
    seconds = spec.get("expirationSeconds", 3600)
    more = (set(sent) - {"apiVersion", "kind", "spec"}) | (set(spec) - {"expirationSeconds"})
    if more:
        raise not_emulated(f"a TokenRequest with {sorted(more)}")
    try:
        schema.check(schema.NUMBER, seconds, "spec.expirationSeconds")
    except schema.Undecodable as problem:
        raise _unhandled("TokenRequest", str(problem)) from None
    return int(seconds)


def is_forced(query: Mapping[str, str]) -> bool:
    """Whether an apply is to take fields over from other managers.

    Raises:
        ApiRefusal: 400 when it is not said with true or false.
    """
    if query.get("force", "false") not in ("true", "false"):
        raise ApiRefusal(400, 'the parameter "force" is not a boolean')
    return query.get("force") == "true"


def _unhandled(kind: str, problem: str) -> ApiRefusal:
    return ApiRefusal(400, f'{kind} in version "v1" cannot be handled as a {kind}: {problem}')


def _require_kind(sent: dict[str, Any], api_version: str, kind: str) -> None:
    if (sent.get("apiVersion"), sent.get("kind")) != (api_version, kind):
        raise ApiRefusal(
            400,
            f"the kind in the data ({sent.get('apiVersion')}, {sent.get('kind')}) does not match "
            f"the expected one ({api_version}, {kind})",
        )
