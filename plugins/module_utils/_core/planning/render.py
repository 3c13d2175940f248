# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The plan as text: what changes where, with both values, then the sizes, the warnings and the totals."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from .changes import Change, ChangeKind, FieldChange, FlavorSize, Resource

WIDTH = 120
"""Columns that a line has at most."""

_SIGNS = {
    ChangeKind.CREATE: "+",
    ChangeKind.UPDATE: "~",
    ChangeKind.DELETE: "-",
    ChangeKind.KEEP: "=",
    ChangeKind.BLOCKED: "!",
}

_WORDS = {
    ChangeKind.CREATE: "to create",
    ChangeKind.UPDATE: "to update",
    ChangeKind.DELETE: "to delete",
    ChangeKind.KEEP: "kept",
    ChangeKind.BLOCKED: "blocked",
}

_KINDS = {
    Resource.SITE: "site",
    Resource.ACCOUNT: "provider account",
    Resource.POOL: "pool",
    Resource.CLUSTER: "cluster",
    Resource.NODE_POOL: "node pool",
    Resource.QUOTA: "quota of",
}


def render_text(*, serial: int, changes: Sequence[Change], sizes: Sequence[FlavorSize], warnings: Sequence[str]) -> str:
    """The whole plan; every line at most WIDTH columns wide, no colours."""
    lines = [f"Fleet plan at serial {serial}: {_totals(changes)}"]
    for heading, group in _groups(changes):
        lines += ["", heading]
        for change in group:
            lines += _change(change)
    if sizes:
        lines += ["", *_sizes(sizes)]
    if warnings:
        lines += ["", "Warnings"]
        for warning in warnings:
            lines += _wrapped(warning, first="  * ", rest="    ")
    return "\n".join(line[:WIDTH].rstrip() for line in lines) + "\n"


def _totals(changes: Iterable[Change]) -> str:
    counts = Counter(change.kind for change in changes)
    told = [f"{counts[kind]} {words}" for kind, words in _WORDS.items() if counts[kind]]
    return ", ".join(told) if told else "no changes"


def _groups(changes: Sequence[Change]) -> Iterator[tuple[str, list[Change]]]:
    groups: dict[str, list[Change]] = {}
    for change in changes:
        heading = {Resource.SITE: "Sites", Resource.ACCOUNT: "Provider accounts"}.get(
            change.resource, f"Pool {change.name}"
        )
        groups.setdefault(heading, []).append(change)
    yield from groups.items()


def _change(change: Change) -> Iterator[str]:
    name = change.part or (change.name if change.resource != Resource.CLUSTER else "")
    title = f"{_KINDS[change.resource]} {name}".rstrip()
    yield f"  {_SIGNS[change.kind]} {title}"
    if change.note:
        yield from _wrapped(change.note, first="      ", rest="      ")
    width = max((len(field.path) for field in change.fields), default=0)
    for field in change.fields:
        yield f"      {field.path:<{width}}  {_values(change, field, room=WIDTH - width - 8)}"


def _values(change: Change, field: FieldChange, *, room: int) -> str:
    note = f"  ({field.note})" if field.note else ""
    if change.kind == ChangeKind.CREATE:
        return _shown(field.after, room - len(note)) + note
    if change.kind == ChangeKind.DELETE:
        return _shown(field.before, room - len(note)) + note
    each = (room - len(" -> ") - len(note)) // 2
    return f"{_shown(field.before, each)} -> {_shown(field.after, each)}{note}"


def _shown(value: object, room: int) -> str:
    if value is None:
        text = "not set"
    elif isinstance(value, str):
        text = value
    elif isinstance(value, list) and all(isinstance(item, str) for item in value):
        text = ", ".join(value)
    else:
        text = json.dumps(value, sort_keys=True)
    return text if len(text) <= room else f"{text[: room - 1]}…"


def _sizes(sizes: Sequence[FlavorSize]) -> Iterator[str]:
    titles = [f"{size.pool}/{size.flavor}{' (Spot)' if size.spot else ''}" for size in sizes]
    width = min(max(len(title) for title in titles), WIDTH - 60)
    yield "Sizes"
    for title, size in zip(titles, sizes, strict=True):
        yield f"  {title[:width]:<{width}}  {_sum(size)}"
    if len(sizes) > 1:
        known = [size for size in sizes if size.total is not None]
        total = sum(size.total or 0 for size in known)
        gpus = sum(size.gpus or 0 for size in known)
        more = " and those not known yet" if len(known) < len(sizes) else ""
        yield f"  {'all':<{width}}  {total} {_plural('node', total)}, {gpus} {_plural('GPU', gpus)}{more}"


def _sum(size: FlavorSize) -> str:
    nodes = f"{size.nodes} {_plural('node', size.nodes)}"
    if size.total is None:
        return f"{nodes} x zones not known yet"
    gpus = f", {size.gpus} {_plural('GPU', size.gpus)}" if size.gpus else ""
    if size.zones is None:
        return f"{nodes}{gpus}"
    return f"{nodes} x {size.zones} {_plural('zone', size.zones)} = {size.total}{gpus}"


def _plural(word: str, count: int) -> str:
    return word if count == 1 else f"{word}s"


def _wrapped(text: str, *, first: str, rest: str) -> Iterator[str]:
    line, lead = "", first
    for word in text.split():
        if line and len(lead) + len(line) + 1 + len(word) > WIDTH:
            yield lead + line
            line, lead = word, rest
        else:
            line = f"{line} {word}" if line else word
    yield lead + line
