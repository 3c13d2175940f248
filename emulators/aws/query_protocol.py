# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The query protocol that EC2, IAM and STS are asked in."""

from __future__ import annotations

from typing import Final
from urllib.parse import parse_qsl

from .signature import Request

_READS: Final = ("Describe", "Get", "List", "AssumeRole")
"""AssumeRole makes keys, but nothing that could be left behind."""


def fields(request: Request) -> dict[str, str]:
    """The fields of a request, `Action` among them, from its query and its body."""
    body = request.body.decode("utf-8", errors="replace")
    return dict([*parse_qsl(request.query), *parse_qsl(body)])


def is_mutating(action: str) -> bool:
    """Whether an action changes something that exists."""
    return not action.startswith(_READS)
