# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The JSON Schema of a FleetConfig document, for editors and docs: the models without the checks between parts."""

from __future__ import annotations

from typing import Any

from .fleet_config import FleetConfigModel
from .pydantic_shim import require_pydantic


def document_schema() -> dict[str, Any]:
    """The schema (draft 2020-12) of FleetConfig v1. The same document always gives the same schema.

    Raises:
        ModuleNotFoundError: pydantic is missing.
    """
    require_pydantic()
    schema: dict[str, Any] = without_null(FleetConfigModel.model_json_schema(by_alias=True))
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema, "title": "FleetConfig"}


def without_null(node: Any) -> Any:
    """Take null out of the schema: in the models it only says that a key may be left out."""
    if isinstance(node, list):
        return [without_null(item) for item in node]
    if not isinstance(node, dict):
        return node
    kept = {key: without_null(value) for key, value in node.items() if not (key == "default" and value is None)}
    choices = kept.get("anyOf")
    if isinstance(choices, list):
        choices = [choice for choice in choices if choice != {"type": "null"}]
        if len(choices) == 1:
            del kept["anyOf"]
            return {**choices[0], **kept}
        kept["anyOf"] = choices
    return kept
