# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Droplet sizes: what the slug of one says of its GPUs, and which ones DOKS has."""

from __future__ import annotations

import re

from ...model.errors import InvalidRequest
from ..contract import NodePoolSpec
from .api import Kubernetes
from .calls import Calls

_GPU_SLUG = re.compile(r"gpu-[a-z0-9]+?x(\d{1,2})-\d+gb(?:-[a-z0-9-]+)?", re.ASCII)
"""`gpu-h100x8-640gb`: model, number of GPUs, their memory together; some have a suffix (`-contracted`)."""

_GPU_PREFIX = "gpu-"


def gpus_of(size: str) -> int | None:
    """How many GPUs a machine of this size has; None where its slug does not say."""
    if not size.startswith(_GPU_PREFIX):
        return 0
    found = _GPU_SLUG.fullmatch(size)
    return int(found[1]) if found else None


def sizes_offered(call: Calls, kubernetes: Kubernetes) -> frozenset[str]:
    """The slugs of the sizes that DOKS has. One read, before a cluster or a node pool is made."""
    return frozenset(size["slug"] for size in call(kubernetes.list_options)["options"]["sizes"])


def check_size(spec: NodePoolSpec, offered: frozenset[str]) -> None:
    """Raises InvalidRequest where DOKS has no such size; the text says which it has."""
    if spec.machine_type not in offered:
        fitting = sorted(size for size in offered if size.startswith(_GPU_PREFIX) or not spec.gpus_per_node)
        raise InvalidRequest(
            f"node pool {spec.name!r}: DOKS has no machine type {spec.machine_type}; it has {', '.join(fitting)}"
        )
