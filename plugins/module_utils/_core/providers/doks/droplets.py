# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The droplets of a cluster that DOKS no longer shows: it is gone when they are, and not before."""

from __future__ import annotations

from .api import Droplets
from .calls import Calls
from .pages import read_all

_OF_A_CLUSTER = "k8s:"


def left_over(call: Calls, droplets: Droplets, *, mark: str, cluster_id: str | None) -> list[str]:
    """The names of droplets that are left of a cluster.

    Lists by tag are without droplets that have GPUs, and those are listed by type alone, which does not go together
    with a tag (the API's documentation): so both are asked for.

    Arguments:
        mark: the tag that all our node pools of the cluster have, and their droplets with them.
        cluster_id: the cluster's id, where it is known: all droplets of the cluster are tagged with it.
    """
    tag = f"{_OF_A_CLUSTER}{cluster_id}" if cluster_id else mark
    tagged = read_all(call, "droplets", droplets.list, tag_name=tag)
    with_gpus = read_all(call, "droplets", droplets.list, type="gpus")
    found = [*tagged, *(droplet for droplet in with_gpus if tag in (droplet.get("tags") or ()))]
    return sorted({str(droplet.get("name") or droplet["id"]) for droplet in found})
