# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The API's description: OpenAPI 3.1, out of the models that read requests and write answers.

Source: OpenAPI Specification 3.1.1.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from ansible_collections.better_compute.fleet.plugins.module_utils._core.documents.schema import without_null
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import Code

from ..web.answers import STATUS
from .call import Call
from .views import Problem

VERSION = "1"
"""Of the API."""

_COMPONENTS = "#/components/schemas/"
_REF_TEMPLATE = _COMPONENTS + "{model}"
_JSON = "application/json"

_ABOUT = (
    "Node pools and clusters of a fleet. Every change is recorded and answered at once (pending, updating, deleting); "
    "bc-fleetd then brings it about: read again to see how far it is. A token acts on what its tenant owns."
)

_ALWAYS = (Code.INVALID_INPUT, Code.UNAUTHENTICATED, Code.FORBIDDEN, Code.UNAVAILABLE)
"""What any call may be refused with."""

_OTHER_STATUSES = {
    408: "The body did not arrive in time.",
    413: "The body is too large.",
    429: "INVALID tokens came from this address too often: come again in a minute.",
    431: "The head is too large.",
    500: "A fault of the API's own.",
}


def document(calls: Sequence[Call]) -> dict[str, Any]:
    """The whole description, as plain data."""
    return {
        "openapi": "3.1.0",
        "info": {"title": "better_compute.fleet", "version": VERSION, "description": _ABOUT},
        "security": [{"token": []}],
        "paths": {
            **{call.path: {"post": _operation(call)} for call in calls},
            "/api/openapi.json": {"get": _open("describe", "This description.", {"type": "object"})},
            "/healthz": {"get": _open("healthz", "Whether the API answers.", {"type": "object"})},
        },
        "components": {
            "schemas": {**_schemas(calls), "Error": _error()},
            "securitySchemes": {
                "token": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "What `bc-fleetd token create` printed.",
                }
            },
            "responses": {
                f"Refused{status}": _refused(description, status) for status, description in _refusals(calls).items()
            },
        },
    }


def _operation(call: Call) -> dict[str, Any]:
    statuses = {STATUS[code] for code in (*_ALWAYS, *call.codes)} | set(_OTHER_STATUSES)
    return {
        "operationId": f"{call.resource}.{call.method}",
        "tags": [call.resource],
        "summary": call.summary,
        "description": f"Needs the permission `{call.permission}`.",
        "requestBody": {
            "required": True,
            "content": {_JSON: {"schema": _ref(call.takes), "example": dict(call.example)}},
        },
        "responses": {
            "200": {"description": call.summary, "content": {_JSON: {"schema": _ref(call.gives)}}},
            **{str(status): {"$ref": f"#/components/responses/Refused{status}"} for status in sorted(statuses)},
        },
    }


def _open(name: str, summary: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    """Something that anybody may read."""
    ok = {"description": summary, "content": {_JSON: {"schema": dict(schema)}}}
    return {"operationId": name, "summary": summary, "security": [], "responses": {"200": ok}}


def _refusals(calls: Sequence[Call]) -> dict[int, str]:
    """Every status of a refusal, and what it says."""
    codes: dict[int, list[str]] = {}
    for code in dict.fromkeys((*_ALWAYS, *(code for call in calls for code in call.codes))):
        codes.setdefault(STATUS[code], []).append(code)
    return {status: " or ".join(names) + "." for status, names in sorted(codes.items())} | _OTHER_STATUSES


def _refused(description: str, status: int) -> dict[str, Any]:
    content: dict[str, Any] = {_JSON: {"schema": {"$ref": f"{_COMPONENTS}Error"}}}
    told: dict[str, Any] = {"description": description, "content": content}
    if status == STATUS[Code.INVALID_INPUT]:
        problem = {"path": "nodeCount", "message": "expected at most 1000, found the number 1001"}
        content[_JSON]["example"] = {
            "code": Code.INVALID_INPUT,
            "message": f"{problem['path']}: {problem['message']}",
            "problems": [problem],
        }
    return told


def _error() -> dict[str, Any]:
    return {
        "type": "object",
        "required": ["code", "message"],
        "properties": {
            "code": {"type": "string", "enum": [str(code) for code in Code]},
            "message": {"type": "string", "description": "For a person."},
            "problems": {
                "type": "array",
                "description": "Everything that is wrong with the body, with INVALID_INPUT.",
                "items": {"$ref": f"{_COMPONENTS}Problem"},
            },
        },
    }


def _schemas(calls: Sequence[Call]) -> dict[str, Any]:
    """Requests, in which null only says that a property may be left out; and answers, in which it is a value."""
    requests = without_null(_defined(call.takes for call in calls))
    return {**_defined([*(call.gives for call in calls), Problem]), **requests}


def _defined(models: Iterable[type[BaseModel]]) -> dict[str, Any]:
    several = [(model, "validation") for model in dict.fromkeys(models)]
    _by_model, schema = models_json_schema(several, by_alias=True, ref_template=_REF_TEMPLATE)  # type: ignore[arg-type] # a list of literals
    defined: dict[str, Any] = _untitled(schema["$defs"])
    return defined


def _untitled(node: Any) -> Any:
    """Without the titles that pydantic makes of the properties' names."""
    if isinstance(node, list):
        return [_untitled(item) for item in node]
    if not isinstance(node, dict):
        return node
    return {key: _untitled(value) for key, value in node.items() if not (key == "title" and isinstance(value, str))}


def _ref(model: type[BaseModel]) -> dict[str, str]:
    return {"$ref": f"{_COMPONENTS}{model.__name__}"}
