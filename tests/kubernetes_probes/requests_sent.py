# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The list of the requests that the product sends to a Kubernetes API, and how a request is recognised in it.

A form is what several requests have in common: method and path with `{namespace}` and `{name}`, parameters, headers and
which fields the body has, without the names and values of one case. `requests_sent.json` is the list. bcd is not in
it: it never calls the Kubernetes API.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_FILE = Path(__file__).with_name("requests_sent.json")

_ANY_KEYS = frozenset(
    {"labels", "annotations", "data", "matchLabels", "nodeSelector", "requests", "limits"},
)
"""Maps whose keys are names of one case."""

_VALUES_OF_ONE_CASE = {"continue": "token", "limit": "number"}
"""Parameters whose values are not part of a form, and what stands there instead."""

_VALUES_THAT_MATTER = frozenset({"propagationPolicy"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """What is asked.

    Attributes:
        request: `POST /api/v1/namespaces/{namespace}/configmaps`.
        query: the parameters, `force=true`; of what differs from case to case a name in braces.
        content_type: None without a body.
    """

    request: str
    query: tuple[str, ...]
    accept: str
    content_type: str | None


Forms = dict[Form, frozenset[str]]
"""For each form the fields that its bodies have: `spec.template.spec.containers[].name`."""


def form_of(
    method: str,
    path: str,
    *,
    query: Mapping[str, str | int] | None,
    body: Mapping[str, Any] | None,
    content_type: str,
    accept: str,
) -> tuple[Form, frozenset[str]]:
    """The form of one request as the product gives it to its ClusterApi, and the fields of its body."""
    form = Form(
        request=f"{method} {pattern(path)}",
        query=tuple(sorted(_parameter(name, str(value)) for name, value in (query or {}).items())),
        accept=accept,
        content_type=None if body is None else content_type,
    )
    return form, frozenset() if body is None else frozenset(_fields(body, ""))


def requests_sent() -> Forms:
    """The list."""
    return {
        Form(
            request=one["request"],
            query=tuple(one.get("query", [])),
            accept=one["accept"],
            content_type=one.get("content_type"),
        ): frozenset(one.get("body", []))
        for one in json.loads(_FILE.read_text(encoding="utf-8"))
    }


def write_requests_sent(forms: Forms) -> None:
    """Keep the list."""
    lines: list[dict[str, Any]] = []
    for form in sorted(forms, key=lambda form: (form.request.split()[::-1], form.query)):
        line: dict[str, Any] = {"request": form.request, "query": list(form.query), "accept": form.accept}
        if form.content_type is not None:
            line |= {"content_type": form.content_type, "body": sorted(forms[form])}
        lines.append({key: value for key, value in line.items() if value != []})
    _FILE.write_text(json.dumps(lines, indent=1) + "\n", encoding="utf-8")


def pattern(path: str) -> str:
    """The path with `{namespace}` and `{name}` in place of one case's."""
    root, _slash, rest = path.removeprefix("/").partition("/")
    parts = rest.split("/")
    head = 1 if root == "api" else 2
    version, named = parts[:head], parts[head:]
    if named[0] == "namespaces" and len(named) > 2:
        version, named = [*version, "namespaces", "{namespace}"], named[2:]
    if len(named) > 1:
        named[1] = "{name}"
    return "/".join(["", root, *version, *named])


def _parameter(name: str, value: str) -> str:
    if name in _VALUES_OF_ONE_CASE:
        return f"{name}={{{_VALUES_OF_ONE_CASE[name]}}}"
    if name == "labelSelector":
        return f"labelSelector={value.partition('=')[0]}={{value}}"
    return f"{name}={value}"


def _fields(value: Any, path: str) -> set[str]:
    if isinstance(value, Mapping) and value and path.rpartition(".")[2] not in _ANY_KEYS:
        below = [_fields(inner, f"{path}.{key}" if path else key) for key, inner in value.items()]
        return set().union(*below)
    if isinstance(value, list) and value:
        return set().union(*(_fields(item, f"{path}[]") for item in value))
    return {f"{path}={value}" if path in _VALUES_THAT_MATTER else path}
