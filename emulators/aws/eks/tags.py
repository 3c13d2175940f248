# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tags of clusters, node groups and access entries."""

from __future__ import annotations

from typing import Final

from ..errors import AwsError
from .records import AccessEntry, Cluster, Document, NodeGroup
from .state import Asked, State, check_tags

_TAGS: Final = 50


def tag(state: State, asked: Asked) -> Document:
    """TagResource."""
    tags = _tags(state, asked["resourceArn"])
    check_tags(asked["tags"])
    if len({**tags, **asked["tags"]}) > _TAGS:
        raise AwsError(400, "BadRequestException", f"A resource has at most {_TAGS} tags.")
    tags.update(asked["tags"])
    return {}


def untag(state: State, asked: Asked) -> Document:
    """UntagResource."""
    tags = _tags(state, asked["resourceArn"])
    for key in asked["tagKeys"]:
        tags.pop(key, None)
    return {}


def list_tags(state: State, asked: Asked) -> Document:
    """ListTagsForResource."""
    return {"tags": _tags(state, asked["resourceArn"])}


def _tags(state: State, arn: str) -> dict[str, str]:
    for cluster in state.clusters.values():
        holders: tuple[Cluster | NodeGroup | AccessEntry, ...] = (
            cluster,
            *cluster.node_groups.values(),
            *cluster.access_entries.values(),
        )
        for holder in holders:
            if holder.arn == arn:
                return holder.tags
    raise AwsError(404, "NotFoundException", "Resource was not found")
