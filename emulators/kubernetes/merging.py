# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""JSON merge patches (RFC 7386): maps are merged, lists and values replaced, and null takes a key out.

Of those the product sends: with the whole head of an object and with uid and resourceVersion as preconditions.
"""

from __future__ import annotations

import copy
from typing import Any

from . import schema
from .kinds import Route
from .objects import Object
from .requests import MERGE_PATCH, Request
from .statuses import ApiRefusal, invalid, not_emulated

_HEAD = frozenset({"name", "uid", "resourceVersion"})


def sent_patch(request: Request) -> Object:
    """The body.

    Raises:
        ApiRefusal: 400 for no object, 501 for one without its head and preconditions.
    """
    sent = request.sent_object(MERGE_PATCH)
    if not sent.get("metadata", {}).keys() >= _HEAD or not sent.keys() >= {"apiVersion", "kind"}:
        raise not_emulated("a merge patch without apiVersion, kind, name, and uid and resourceVersion as preconditions")
    return sent


def merged(route: Route, live: Object, patch: Object) -> Object:
    """The object as it would be.

    Raises:
        ApiRefusal: 422 when that is no object of its kind, or has an unknown field; 400 for another name or namespace.
    """
    kind = route.kind
    assert kind.schema is not None
    if (patch["apiVersion"], patch["kind"]) != (kind.api_version, kind.name):
        raise _undecodable(f"no kind {patch['kind']!r} is registered for {patch['apiVersion']!r}")
    try:
        schema.check(kind.schema, _without_nulls(patch))
    except schema.Undecodable as problem:
        raise _undecodable(str(problem)) from None
    result: Object = _merge(copy.deepcopy(live), patch)
    metadata = result["metadata"]
    if (metadata.get("namespace"), metadata["name"]) != (route.namespace, route.name):
        raise ApiRefusal(400, "the name or namespace of the object does not match that of the URL")
    return result


def _undecodable(problem: str) -> ApiRefusal:
    """422, which names no object: what the patch makes is none."""
    return invalid("", "", [("patch", f"Invalid value: strict decoding error: {problem}")])


def _merge(live: Any, patch: Any) -> Any:
    if not isinstance(patch, dict):
        return _without_nulls(patch)
    result = live if isinstance(live, dict) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = _merge(result.get(key), value)
    return result


def _without_nulls(value: Any) -> Any:
    """A copy. In lists no key is taken out by a null, but one that is null is not there either."""
    if isinstance(value, dict):
        return {key: _without_nulls(inner) for key, inner in value.items() if inner is not None}
    return [_without_nulls(item) for item in value] if isinstance(value, list) else value
