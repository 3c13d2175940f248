# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whose a resource at a provider is: told by the owner's marks on it, and by nothing else."""

from __future__ import annotations

from collections.abc import Mapping

from ..model.errors import AlreadyExists
from .contract import ClusterSpec


def is_ours(*, tags: Mapping[str, str], wanted: Mapping[str, str]) -> bool:
    """Whether what carries `tags` was made by the owner of `wanted`: all these marks stand on it. No marks: no."""
    return bool(wanted) and all(tags.get(key) == value for key, value in wanted.items())


def is_readable(spec: ClusterSpec, *, tags: Mapping[str, str]) -> bool:
    """Whether a cluster that carries `tags` is the one that is meant: ours, or the one that was adopted."""
    return spec.adopted or is_ours(tags=tags, wanted=spec.tags)


def refuse_adopted(spec: ClusterSpec) -> None:
    """Raises AlreadyExists for a cluster that was adopted: it is never created, changed or deleted."""
    if spec.adopted:
        raise AlreadyExists(f"cluster {spec.name!r} was adopted: it is its owner's to create, change or delete")
