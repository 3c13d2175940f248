# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""wire/bcd-gateway.v1.json as something to judge messages with, for the tests of either side."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator  # type: ignore[import-untyped]  # comes without types

SCHEMA_FILE = Path(__file__).parents[2] / "wire" / "bcd-gateway.v1.json"


@functools.cache
def schema() -> dict[str, Any]:
    """The published schema."""
    data: dict[str, Any] = json.loads(SCHEMA_FILE.read_text())
    return data


def check_schema() -> None:
    """Raise what is wrong with the schema itself."""
    Draft202012Validator.check_schema(schema())


@functools.cache
def _validator(name: str, *, strict: bool) -> Draft202012Validator:
    whole = _closed(schema()) if strict else schema()
    return Draft202012Validator({"$schema": whole["$schema"], "$ref": f"#/$defs/{name}", "$defs": whole["$defs"]})


def problems(name: str, message: object, *, strict: bool = True) -> list[str]:
    """What is wrong with a message; nothing when it fits.

    Arguments:
        name: the definition's name, e.g. `joinRequest`.
        strict: judge a sender, which sends no more than the schema names; a receiver ignores what it does not know.
    """
    return [
        f"{name}{error.json_path[1:]}: {error.message}"
        for error in _validator(name, strict=strict).iter_errors(message)
    ]


def _closed(part: Any) -> Any:
    """The same schema with objects that allow nothing but their properties."""
    if isinstance(part, list):
        return [_closed(item) for item in part]
    if not isinstance(part, dict):
        return part
    closed = {key: _closed(value) for key, value in part.items()}
    return closed | {"additionalProperties": False} if part.get("type") == "object" else closed
