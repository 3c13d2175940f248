# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How large a document may be: so that nothing that is given to us costs more memory or time than a fleet is worth.

The checks here look at sizes only and end at the first thing that is too large. What is in the bounds is small enough
for every later check to look at all of it.
"""

from __future__ import annotations

from typing import Any

from ..model.errors import InvalidInput, Problem
from .spelling import KeyPath, path_text

MAX_DOCUMENT_BYTES = 16 * 1024 * 1024
"""Of a file, as it is stored, and characters of a text. A document of 10,000 pools has about 6 million."""

MAX_DEPTH = 32
"""Nested mappings and lists. A FleetConfig has nine; the limit keeps recursion far from Python's."""

MAX_PROBLEMS = 100
"""That are told of a document: nobody reads more at once."""

_MAX_ENTRIES_OF_A_SECTION = 100_000
"""Ten times the largest fleet that we measure with."""

_MAX_ENTRIES = 100
"""Keys of any mapping, and items of a list inside a section. A FleetConfig has at most 16 (subnets)."""


def check_size(size: int, name: str) -> None:
    """Check a file's length in bytes before it is read.

    Raises:
        InvalidInput: it is too large for a document.
    """
    if size > MAX_DOCUMENT_BYTES:
        raise too_large(name)


def too_large(name: str) -> InvalidInput:
    """The error for a document with too many bytes."""
    megabytes = MAX_DOCUMENT_BYTES // (1024 * 1024)
    return InvalidInput([Problem(path="", message=f"{name} is too large: a document has at most {megabytes} MiB")])


def check_shape(data: object) -> None:
    """Check how deep and how wide plain data is.

    Raises:
        InvalidInput: it cannot be a FleetConfig; the first place that is too deep or too wide.
    """
    level: list[dict[Any, Any] | list[Any]] = [data] if isinstance(data, (dict, list)) else []
    for depth in range(MAX_DEPTH):
        widest = max(map(len, level), default=0)
        if widest > _MAX_ENTRIES and any(len(value) > _most_entries(value, depth) for value in level):
            break
        level = [
            below
            for value in level
            for below in (value.values() if isinstance(value, dict) else value)
            if isinstance(below, (dict, list))
        ]
        if not level:
            return
    _refuse_shape(data, ())


def _most_entries(value: object, depth: int) -> int:
    return _MAX_ENTRIES_OF_A_SECTION if isinstance(value, list) and depth == 1 else _MAX_ENTRIES


def _refuse_shape(value: object, path: KeyPath) -> None:
    """Find where it is: the paths of a document take longer to tell than all its sizes."""
    if not isinstance(value, (dict, list)):
        return
    if len(path) >= MAX_DEPTH:
        raise InvalidInput([Problem(path=path_text(path), message=f"nested more than {MAX_DEPTH} deep")])
    most = _most_entries(value, len(path))
    if len(value) > most:
        message = f"{len(value)} entries; nothing in a FleetConfig has more than {most} here"
        raise InvalidInput([Problem(path=path_text(path), message=message)])
    for key, below in value.items() if isinstance(value, dict) else enumerate(value):
        _refuse_shape(below, (*path, key if isinstance(key, int) else str(key)))
