# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is said of a body that is no JSON object at all: what was expected in its place."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import InvalidInput, Problem


def no_object(fields: Mapping[str, Any], found: str) -> InvalidInput:
    """The refusal of such a body.

    Arguments:
        fields: what a body of this call has: the fields of its model, as pydantic tells them.
        found: what came, in words that tell no value: it may be a secret.
    """
    required = [field.alias or name for name, field in fields.items() if field.is_required()]
    return InvalidInput([Problem(path="", message=f"expected a JSON object with {', '.join(required)}; found {found}")])


def no_json(content: bytes, why: str) -> str:
    """What was found where a body cannot be read; `why` is the reader's own word for it."""
    return f"what is no JSON: {why}" if content.strip() else "an empty body"
