# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Problems as callers of the API spell things: operations/ writes snake_case, as modules do."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from ansible_collections.better_compute.fleet.plugins.module_utils._core.documents.spelling import camel
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import Problem

_OTHERWISE = {"tenant": "tenantId", "disk_gib": "diskGiB"}
"""Words that are not just written together."""

_WORDS = re.compile(
    r"(?<![\w'\"-])(?:node_count|min_nodes|max_nodes|machine_type|disk_gib|disk_type|node_pools|cluster_id|"
    r"idempotency_key|private_nodes|expires_seconds)(?![\w'\"-])"
)
"""Names of properties in a sentence; never a value that it repeats, which stands in quotes."""

_FREE = "labels"
"""Below it, the names are the caller's own."""


def as_api_spells(problems: Iterable[Problem]) -> Iterator[Problem]:
    """The problems with their paths, and the properties that they name, in camelCase."""
    for problem in problems:
        yield Problem(path=_path(problem.path), message=_WORDS.sub(_word_found, problem.message))


def _path(path: str) -> str:
    parts = []
    rest = path
    while rest:
        part, dot, rest = rest.partition(".")
        parts.append(_part(part))
        if part == _FREE and dot:
            parts.append(rest)
            break
    return ".".join(parts)


def _part(part: str) -> str:
    name, bracket, index = part.partition("[")
    return _word(name) + bracket + index


def _word_found(match: re.Match[str]) -> str:
    return _word(match.group())


def _word(name: str) -> str:
    return _OTHERWISE.get(name) or camel(name)
