# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whose a resource at a provider is: told by the owner's marks on it, and by nothing else."""

from __future__ import annotations

from collections.abc import Mapping


def is_ours(*, tags: Mapping[str, str], wanted: Mapping[str, str]) -> bool:
    """Whether what carries `tags` was made by the owner of `wanted`: all these marks stand on it. No marks: no."""
    return bool(wanted) and all(tags.get(key) == value for key, value in wanted.items())
