# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The spec's tables of what each call takes (kubernetesNodePools, kubernetesSubstrates), word for word.

The rows are (field, type, required, constraints); `examples` turns a row into values that it allows and forbids.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Any

_TENANT = ("tenantId", "string", "yes", "at most 128 characters; matches ^[A-Za-z0-9._:-]{1,128}$")
_CLUSTER = ("clusterId", "string", "yes", "at most 56 characters; matches ^kcl_[0-9a-hjkmnp-tv-z]{26,52}$")
_NODE_POOL = ("nodePoolId", "string", "yes", "at most 56 characters; matches ^knp_[0-9a-hjkmnp-tv-z]{26,52}$")

Row = tuple[str, str, str, str]

TABLES: dict[str, tuple[Row, ...]] = {
    "kubernetesNodePools/create": (
        _TENANT,
        _CLUSTER,
        ("name", "string", "yes", "at most 40 characters; matches ^[a-z]([-a-z0-9]{0,38}[a-z0-9])?$"),
        ("machineType", "string", "yes", "at most 63 characters; matches ^[a-z0-9][a-z0-9.-]{0,62}$"),
        ("nodeCount", "integer", "yes", "0-1000"),
        ("autoscaling", "object", "", ""),
        ("autoscaling.minNodes", "integer", "yes", "0-1000"),
        ("autoscaling.maxNodes", "integer", "yes", "1-1000"),
        ("diskGiB", "integer", "", "10-65536"),
        ("diskType", "string", "", "matches ^[a-z][a-z0-9-]{1,40}$"),
        ("spot", "boolean", "", "default false"),
        ("accelerators", "object", "", ""),
        ("accelerators.type", "string", "yes", "matches ^[a-z0-9][a-z0-9-]{0,62}$"),
        ("accelerators.count", "integer", "yes", "1-16"),
        ("zones", "list of string", "", "0-10 items"),
        ("labels", "map of string", "", ""),
        ("taints", "list of object", "", "0-32 items"),
        ("taints[].key", "string", "yes", ""),
        ("taints[].value", "string", "", "at most 63 characters"),
        ("taints[].effect", "one of NoSchedule, PreferNoSchedule, NoExecute", "yes", ""),
        ("idempotencyKey", "string", "", "at most 128 characters; matches ^[A-Za-z0-9._:-]{1,128}$"),
    ),
    "kubernetesNodePools/list": (_TENANT, _CLUSTER),
    "kubernetesNodePools/update": (
        _TENANT,
        _CLUSTER,
        _NODE_POOL,
        ("nodeCount", "integer", "", "0-1000"),
        ("autoscaling", "object,null", "", ""),
    ),
    "kubernetesNodePools/delete": (_TENANT, _CLUSTER, _NODE_POOL),
    "kubernetesSubstrates/get": (
        _TENANT,
        ("poolId", "string", "yes", "at most 57 characters; matches ^pool_[0-9a-hjkmnp-tv-z]{26,52}$"),
    ),
}

_OTHER_TYPES: dict[str, tuple[Any, ...]] = {
    "string": (7, True, ["a"], None),
    "integer": ("7", 1.5, True, None),
    "boolean": ("true", 1, None),
    "object": ([], "a", 1, None),
    "object,null": ([], "a", 1),
    "list of string": ({}, "a", [1], None),
    "map of string": ([], "a", {"a": 1}, {"a": None}, None),
    "list of object": ({}, "a", ["a"], None),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Wrong:
    """A value that a row forbids; a field that is missing where `value` is `MISSING`."""

    call: str
    field: str
    value: Any

    def __str__(self) -> str:
        return f"{self.call}-{self.field}-{str(self.value)[:24]!r}"


class _Left(Enum):
    """A value that no body has, with one name in every process, because a test is found by its name."""

    OUT = "left out"


MISSING = _Left.OUT


def forbidden() -> Iterator[Wrong]:
    """One case for each thing that the tables forbid."""
    for call, table in TABLES.items():
        for field, kind, required, constraints in table:
            values: list[Any] = list(_OTHER_TYPES.get(kind, ("Anything", 1, None)))
            if required:
                values.append(MISSING)
            values += _beyond(kind, constraints)
            for value in values:
                yield Wrong(call=call, field=field, value=value)


def _beyond(kind: str, constraints: str) -> list[Any]:
    values: list[Any] = []
    if bounds := re.fullmatch(r"(\d+)-(\d+)", constraints):
        values += [int(bounds[1]) - 1, int(bounds[2]) + 1, 10**30]
    if items := re.fullmatch(r"0-(\d+) items", constraints):
        taint = {"key": "a", "effect": "NoSchedule"}
        values.append([{**taint, "key": f"k{n}"} if "object" in kind else f"z-{n}" for n in range(int(items[1]) + 1)])
    if most := re.search(r"at most (\d+) characters", constraints):
        values.append("a" * (int(most[1]) + 1))
    if pattern := re.search(r"matches (\S+)", constraints):
        # The end is the very end, digits are ASCII's, and nothing of these is in any of the alphabets.
        values += ["", " ", "a\n", "\u0661", "a/b", "\x00"]
        assert not any(re.fullmatch(pattern[1], value, re.ASCII) for value in values if isinstance(value, str))
    return values
