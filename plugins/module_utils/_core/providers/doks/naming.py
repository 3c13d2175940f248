# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which of the resources of a name is ours: DOKS knows them by ids that nobody recorded. No I/O.

Names need not be unique there, and a create has no idempotency token: one whose reply was lost may have been sent
twice. Of several that carry our marks the oldest is ours, of those the one with the lowest id, so that everybody who
looks chooses the same; the others are spare. One that is being deleted is the last choice.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ...model.errors import AlreadyExists, PermissionDenied
from ..ownership import is_ours
from .tags import from_tags

Data = dict[str, Any]

_GOING = ("deleting", "deleted")
_NODE_GOING = ("draining", "deleting")
_NEVER = "9999"
"""Sorts after every time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ours:
    """Attributes: first: ours. spare: others of its name with our marks that are not on their way out already."""

    first: Data
    spare: tuple[Data, ...] = ()


def find_ours(items: Iterable[Data], *, name: str, marks: Mapping[str, str], kind: str) -> Ours | None:
    """Ours among clusters, or among the node pools of a cluster; None when nothing has the name.

    Arguments:
        kind: for a person, e.g. `cluster`.

    Raises:
        AlreadyExists: what has the name is not ours.
        PermissionDenied: tags are not shown, so whose it is cannot be told.
    """
    named = [item for item in items if item["name"] == name]
    if not named:
        return None
    if not all(item.get("tags") for item in named):
        # DOKS itself tags everything with `k8s`.
        raise PermissionDenied(f"the tags of {kind} {name!r} are not shown: the API token needs the scope tag:read")
    ours = sorted((item for item in named if is_ours(tags=from_tags(item["tags"]), wanted=marks)), key=age)
    if not ours:
        raise AlreadyExists(f"a {kind} {name!r} that was not made for this pool exists at DigitalOcean")
    return Ours(first=ours[0], spare=tuple(item for item in ours[1:] if not is_going(item)))


def is_going(item: Data) -> bool:
    """Whether a cluster or a node pool is being deleted. A node pool has no status: all nodes that it has are going."""
    if "status" in item:
        return state_of(item) in _GOING
    nodes = item.get("nodes") or []
    emptied = item.get("count") == 0 and item.get("auto_scale")
    return bool(nodes) and not emptied and all(state_of(node) in _NODE_GOING for node in nodes)


def state_of(item: Data) -> str:
    """What DOKS says that a cluster or a node is: `provisioning`, `running`, …; empty where it says nothing."""
    return str((item.get("status") or {}).get("state") or "")


def message_of(cluster: Data) -> str:
    """The reason that DOKS gives for a cluster's state, if any."""
    return str((cluster.get("status") or {}).get("message") or "")


def age(item: Data) -> tuple[bool, str, str]:
    """What to sort by: the first one is ours. A node pool is as old as its oldest node: it has no date of its own."""
    made = [item.get("created_at"), *(node.get("created_at") for node in item.get("nodes") or ())]
    return is_going(item), min((moment for moment in made if moment), default=_NEVER), str(item["id"])
