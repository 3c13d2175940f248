# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a reply says, without what differs from one API and one moment to the next.

Names carry a probe's run, uids and times are made up anew: they become words. Of what controllers write beside us
(conditions, a DaemonSet's status, annotations of Nodes) nothing is looked at; nor at messages of refusals whose words
are a JSON decoder's or a validator's (400, 415, 422, 500): there the causes' reasons and fields count.
"""

from __future__ import annotations

import re
from typing import Any

from .subject import ApiSubject, Reply

Told = dict[str, Any]
"""What a probe returns: each of its steps and what was observed there."""

_UID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
_WORDS_OF_THE_API = frozenset({401, 403, 404, 409, 410, 413})
"""Statuses whose messages are compared."""


def told(api: ApiSubject, reply: Reply) -> Told:
    """The reply, ready to be compared."""
    if reply.code < 300:
        return {"code": reply.code, "body": _plain(api, _object(reply.body))}
    if not isinstance(reply.body, dict):
        return {"code": reply.code, "text": reply.body.strip()}
    said: Told = {"code": reply.code, "reason": reply.body.get("reason")}
    details = dict(reply.body.get("details") or {})
    if reply.code in _WORDS_OF_THE_API:
        said["message"] = reply.body.get("message")
        # In no order, where several managers are in the way.
        details["causes"] = sorted(details.get("causes", []), key=lambda cause: str(cause.get("field")))
    else:
        # Updates are validated twice, and say the same twice.
        causes = {(cause.get("field", ""), cause["reason"]) for cause in details.get("causes", [])}
        details["causes"] = [{"field": field, "reason": reason} for field, reason in sorted(causes)]
    said["details"] = {key: value for key, value in details.items() if value}
    return _known(_plain(api, said))


def stored(api: ApiSubject, path: str) -> Told:
    """What stands there now."""
    return told(api, api.send("GET", path))


def _object(body: dict[str, Any]) -> dict[str, Any]:
    """An object without what controllers write beside us."""
    if "items" in body:
        # An empty list may be null.
        items = [_object(item) for item in body["items"] or ()] or body["items"]
        return {**body, "metadata": _metadata(body["metadata"]), "items": items}
    plain = {**body, "metadata": _metadata(body["metadata"])} if "metadata" in body else dict(body)
    if body.get("kind") == "DaemonSet":
        plain.pop("status", None)
    if isinstance(body.get("status"), dict):
        plain["status"] = {key: value for key, value in body["status"].items() if key != "conditions"}
        if "token" in plain["status"]:
            plain["status"]["token"] = "<token>"
        if body.get("kind") == "DaemonSet":
            del plain["status"]
    if body.get("kind") == "PartialObjectMetadata":
        plain["metadata"].pop("annotations", None)
        plain["metadata"].pop("managedFields", None)
    return plain


def _metadata(metadata: dict[str, Any]) -> dict[str, Any]:
    plain = dict(metadata)
    if "resourceVersion" in plain:
        plain["resourceVersion"] = "<version>"
    if "continue" in plain:
        plain["continue"] = "<continue>"
    if "managedFields" in plain:
        lines = [
            {key: value for key, value in line.items() if key != "time"}
            for line in plain["managedFields"]
            if line.get("subresource") != "status" and line["manager"] != "kube-controller-manager"
        ]
        plain["managedFields"] = sorted(lines, key=lambda line: (line["manager"], line["operation"]))
    return plain


def _plain(api: ApiSubject, value: Any) -> Any:
    if isinstance(value, dict):
        return {_plain(api, key): _plain(api, inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_plain(api, inner) for inner in value]
    if isinstance(value, str):
        return _TIME.sub("<time>", _UID.sub("<uid>", value.replace(api.run, "RUN")))
    return value


def _known(said: Told) -> Told:
    """Without what is not there."""
    return {key: value for key, value in said.items() if value not in (None, {}, [])}
