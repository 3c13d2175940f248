# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The query protocol that EC2, Auto Scaling, IAM and STS are asked in."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final
from urllib.parse import parse_qsl

from .signature import Request

_READS: Final = ("Describe", "Get", "List", "AssumeRole")
"""AssumeRole makes keys, but nothing that could be left behind."""


def fields(request: Request) -> dict[str, str]:
    """The fields of a request, `Action` among them, from its query and its body."""
    body = request.body.decode("utf-8", errors="replace")
    return dict([*parse_qsl(request.query), *parse_qsl(body)])


def listed(fields: Mapping[str, str], name: str) -> list[str]:
    """The entries of a list: `InstanceType.1`, `InstanceType.2`, …; beside EC2 its name ends in `.member`."""
    return [value for field, value in fields.items() if re.fullmatch(rf"{re.escape(name)}\.\d+", field)]


def filters(fields: Mapping[str, str]) -> dict[str, list[str]]:
    """EC2's filters, each with the values of which one has to fit: `Filter.1.Name`, `Filter.1.Value.1`, …"""
    numbers = [match[1] for match in (re.fullmatch(r"Filter\.(\d+)\.Name", field) for field in fields) if match]
    return {fields[f"Filter.{number}.Name"]: listed(fields, f"Filter.{number}.Value") for number in numbers}


def is_mutating(action: str) -> bool:
    """Whether an action changes something that exists."""
    return not action.startswith(_READS)
