# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The life's document with changes to its flavors and its cluster."""

from __future__ import annotations

from typing import Any

from ansible_collections.better_compute.fleet.tests.support.life.world import document

H100, SPOT = "h100", "h100-spot"


def with_flavor(name: str, made: dict[str, Any] | None = None, **fields: Any) -> dict[str, Any]:
    """The document (or another one) with other fields of one flavor."""
    made = document() if made is None else made
    flavors = made["pools"][0]["policy"]["substrate"]["flavors"]
    next(flavor for flavor in flavors if flavor["name"] == name).update(fields)
    return made


def autoscaled(least: int, most: int, *, nodes: int = 1, **fields: Any) -> dict[str, Any]:
    """The document with an autoscaled Spot flavor, in one zone: its numbers are totals."""
    return with_flavor(SPOT, nodes=nodes, autoscaling={"minNodes": least, "maxNodes": most}, **fields)


def of_version(version: str | None, *, upgrades: str = "manual") -> dict[str, Any]:
    """The document with a version of the control plane, and how flavors follow it."""
    made = document()
    substrate = made["pools"][0]["policy"]["substrate"]
    substrate["upgrades"] = upgrades
    if version is not None:
        substrate["cluster"]["create"]["version"] = version
    return made
