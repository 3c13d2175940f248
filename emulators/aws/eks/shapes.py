# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""EKS's routes and constraints, from botocore's model of the API: what breaks them is refused unseen."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qs, unquote

from ..errors import AwsError, invalid_parameter

if TYPE_CHECKING:
    from botocore.model import OperationModel, ServiceModel, Shape

_READS: Final = ("Describe", "List")


@cache
def _model() -> ServiceModel:
    import botocore.session

    return botocore.session.Session().get_service_model("eks")


@cache
def _routes() -> tuple[tuple[str, re.Pattern[str], OperationModel], ...]:
    routes = []
    for name in _model().operation_names:
        operation = _model().operation_model(name)
        uri = re.sub(r"\\\{(\w+)\\\}", r"(?P<\1>[^/]+)", re.escape(operation.http["requestUri"]))
        routes.append((operation.http["method"], re.compile(uri), operation))
    return tuple(routes)


def route(method: str, path: str) -> tuple[OperationModel, Mapping[str, str]]:
    """Which operation a request asks for, and the parameters in its path.

    Arguments:
        path: as it was sent, still percent-encoded.

    Raises:
        AwsError: there is no such operation.
    """
    for wanted, pattern, operation in _routes():
        match = pattern.fullmatch(path)
        if wanted == method and match:
            return operation, {name: unquote(value) for name, value in match.groupdict().items()}
    raise AwsError(404, "UnknownOperationException", f"{method} {path}")


def choices(shape: str) -> tuple[str, ...]:
    """The values of an enum of the model."""
    return tuple(_model().shape_for(shape).metadata["enum"])


def is_mutating(operation: OperationModel) -> bool:
    """Whether the operation changes something."""
    return not operation.name.startswith(_READS)


def parameters(operation: OperationModel, *, path: Mapping[str, str], query: str, body: bytes) -> dict[str, Any]:
    """The operation's parameters by their names in the model, checked against it.

    Raises:
        AwsError: the body is no JSON object, or a parameter is missing or breaks a constraint.
    """
    shape = operation.input_shape
    if shape is None:
        return {}
    fields = parse_qs(query, keep_blank_values=True)
    sent = _json_object(body)
    values: dict[str, Any] = {}
    for name, member in shape.members.items():
        wire_name = member.serialization.get("name", name)
        match member.serialization.get("location"):
            case "uri":
                values[name] = path[wire_name]
            case "querystring":
                if wire_name in fields:
                    values[name] = _from_query(member, fields[wire_name], name)
            case _:
                if sent.get(wire_name) is not None:
                    values[name] = sent[wire_name]
    _check(shape, values, "")
    return values


def check_answer(operation: OperationModel, document: Mapping[str, Any]) -> None:
    """Hold an answer of the emulator against the model.

    Raises:
        AwsError: it breaks the model: the emulator is wrong.
    """
    try:
        _check(operation.output_shape, document, "", answer=True)
    except AwsError as error:
        raise AwsError(500, "ServerException", f"The emulator's answer to {operation.name} is wrong: {error}") from None


def target(path: Mapping[str, str], body: bytes) -> str:
    """What a request is about, for people and fault scripts: `<cluster>/<node group or principal>` or `<cluster>`."""
    try:
        sent = _json_object(body)
    except AwsError:
        sent = {}
    names = [*path.values(), *(sent[key] for key in ("name", "nodegroupName", "principalArn") if key in sent)]
    return "/".join(str(name) for name in names)


def _json_object(body: bytes) -> dict[str, Any]:
    try:
        sent = json.loads(body or b"{}")
    except ValueError:
        sent = None
    if not isinstance(sent, dict):
        raise AwsError(400, "SerializationException", "The request's body is no JSON object.")
    return sent


def _from_query(shape: Shape, texts: list[str], name: str) -> object:
    if shape.type_name == "list":
        return texts
    if shape.type_name != "integer":
        return texts[-1]
    try:
        return int(texts[-1])
    except ValueError:
        raise _refusal(name, "Member must be a number") from None


_TYPES: Final[Mapping[str, type | tuple[type, ...]]] = {
    "structure": dict,
    "map": dict,
    "list": list,
    "string": str,
    "integer": int,
    "boolean": bool,
}


def _check(shape: Any, value: object, where: str, *, answer: bool = False) -> None:
    """Refuse a value that breaks its shape, and go into what is within it.

    Arguments:
        answer: whether it is one: then it has nothing that the model does not know, but its sizes are EKS's own affair
            (real answers have empty tags, of which the model wants one at least).
    """
    wanted = _TYPES.get(shape.type_name)
    if wanted is None or value is None:
        return
    if not isinstance(value, wanted) or (isinstance(value, bool) and wanted is int):
        raise _refusal(where, f"Member must be of type {shape.type_name}")
    if not answer:
        _check_sizes(shape, value, where)
    choices = shape.metadata.get("enum")
    if choices and value not in choices:
        raise _refusal(where, f"Member must satisfy enum value set: [{', '.join(choices)}]")
    if isinstance(value, dict) and shape.type_name == "structure":
        unknown = value.keys() - shape.members.keys() if answer else ()
        if unknown:
            raise _refusal(where, f"Member must not have {', '.join(unknown)}")
        for name in shape.required_members:
            if value.get(name) is None:
                raise _refusal(f"{where}.{name}".lstrip("."), "Member must not be null")
        for name, member in shape.members.items():
            _check(member, value.get(name), f"{where}.{name}".lstrip("."), answer=answer)
    elif isinstance(value, dict):
        for name, inner in value.items():
            _check(shape.key, name, f"{where}.{name}")
            _check(shape.value, inner, f"{where}.{name}", answer=answer)
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            _check(shape.member, inner, f"{where}[{number}]", answer=answer)


def _check_sizes(shape: Any, value: Any, where: str) -> None:
    size = value if isinstance(value, int) else len(value)
    low, high = shape.metadata.get("min"), shape.metadata.get("max")
    if low is not None and size < low:
        raise _refusal(where, f"Member must have a value or length of at least {low}")
    if high is not None and size > high:
        raise _refusal(where, f"Member must have a value or length of at most {high}")
    pattern = shape.metadata.get("pattern")
    if pattern and not re.fullmatch(pattern.rstrip("$"), value):
        raise _refusal(where, f"Member must satisfy regular expression pattern: {pattern}")


def _refusal(where: str, constraint: str) -> AwsError:
    return invalid_parameter(
        f"1 validation error detected: Value at '{where}' failed to satisfy constraint: {constraint}"
    )
