# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Droplets, as far as one has to see what is left of a cluster: lists, by tag or of those with GPUs, and one."""

from __future__ import annotations

from collections.abc import Mapping

from .records import Droplet
from .refusals import invalid, not_found
from .state import State

_GPUS = "gpus"


def listed(state: State, query: Mapping[str, str]) -> list[Droplet]:
    """What GET /v2/droplets lists: without GPU droplets unless `type` says so, which no tag may stand beside."""
    tag, kind, name = (query.get(key) for key in ("tag_name", "type", "name"))
    if tag is not None and (kind is not None or name is not None):
        raise invalid("tag_name cannot be combined with name or type")
    if kind not in (None, _GPUS, "droplets"):
        raise invalid("invalid type")
    found = list(state.droplets.values())
    if tag is not None and state.readings.tags_find_gpu_droplets:
        return [droplet for droplet in found if tag in droplet.tags]
    found = [droplet for droplet in found if droplet.gpu == (kind == _GPUS)]
    if tag is not None:
        return [droplet for droplet in found if tag in droplet.tags]
    if name is not None:
        return [droplet for droplet in found if droplet.name.lower() == name.lower()]
    return found


def one(state: State, droplet_id: str) -> Droplet:
    """The droplet, or 404."""
    droplet = state.droplets.get(int(droplet_id)) if droplet_id.isdecimal() else None
    if droplet is None:
        raise not_found()
    return droplet
