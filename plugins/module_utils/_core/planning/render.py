# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The plan as text: what changes where, with both values, then the sizes, the warnings and the totals.

Labels and taints have a line for each that differs, lists that change a line for each item that comes or goes.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from .changes import COMING, GOING, Change, ChangeKind, FieldChange, FlavorSize, Resource
from .naming import Key, titled

WIDTH = 120
"""Columns that a line has at most."""

_WIDEST_PATH = 60
"""Columns of a path: the key of a label may have many more."""

_SIGNS = {
    ChangeKind.CREATE: "+",
    ChangeKind.UPDATE: "~",
    ChangeKind.DELETE: "-",
    ChangeKind.ADOPT: ">",
    ChangeKind.GIVE_BACK: "<",
    ChangeKind.KEEP: "=",
    ChangeKind.BLOCKED: "!",
}

_WORDS = {
    ChangeKind.CREATE: "to create",
    ChangeKind.UPDATE: "to update",
    ChangeKind.DELETE: "to delete",
    ChangeKind.ADOPT: "to adopt",
    ChangeKind.GIVE_BACK: "to give back",
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
    if changes:
        # Again, because the first line of a long plan has left the screen.
        blocked = any(change.kind == ChangeKind.BLOCKED for change in changes)
        lines += ["", f"Plan: {_totals(changes)}{'; nothing is done while something is blocked' if blocked else ''}."]
    return "\n".join(line[:WIDTH].rstrip() for line in lines) + "\n"


def _totals(changes: Iterable[Change]) -> str:
    counts = Counter(change.kind for change in changes)
    drifted = sum(change.drifted for change in changes)
    told = [f"{counts[kind]} {words}" for kind, words in _WORDS.items() if counts[kind]]
    if drifted:
        told.append(f"{drifted} of these for drift")
    return ", ".join(told) if told else "no changes"


def _groups(changes: Sequence[Change]) -> Iterator[tuple[str, list[Change]]]:
    groups: dict[str | Key, list[Change]] = {}
    for change in changes:
        section = {Resource.SITE: "Sites", Resource.ACCOUNT: "Provider accounts"}.get(change.resource)
        groups.setdefault(section or change.key, []).append(change)
    for group, of_it in groups.items():
        yield group if isinstance(group, str) else f"Pool {titled(group)}", of_it


def _change(change: Change) -> Iterator[str]:
    name = change.part or (titled(change.key) if change.resource != Resource.CLUSTER else "")
    title = f"{_KINDS[change.resource]} {name}".rstrip()
    yield f"  {_SIGNS[change.kind]} {title}"
    if change.note:
        yield from _wrapped(change.note, first="      ", rest="      ")
    fields = [part for field in change.fields for part in _parts(field)]
    width = max((min(len(field.path), _WIDEST_PATH) for field in fields), default=0)
    for field in fields:
        lead = f"      {_cut(field.path, width):<{width}}  "
        for line in _values(change.kind, field, room=WIDTH - len(lead)):
            yield lead + line
            lead = " " * (width + 8)


def _parts(field: FieldChange) -> Iterator[FieldChange]:
    """A field that holds labels or taints as one field for each of them that differs; any other as it is."""
    before, after = _marks(field.before), _marks(field.after)
    if before is None and after is None:
        yield field
        return
    held, wanted = before or {}, after or {}
    if not held and not wanted:  # from nothing said to none
        yield field
    for name in dict.fromkeys((*held, *wanted)):
        old, new = held.get(name), wanted.get(name)
        if old != new:
            yield FieldChange(path=f"{field.path}.{name}", before=old, after=new, note=field.note)


def _marks(value: Any) -> Mapping[str, str] | None:
    """Labels by key, taints by key and effect; None for what is neither."""
    if isinstance(value, Mapping):
        return value if all(isinstance(item, str) for item in value.values()) else None
    if isinstance(value, list) and all(isinstance(item, Mapping) for item in value):
        return {f"{taint['key']}:{taint['effect']}": taint["value"] for taint in value}
    return None


def _values(kind: ChangeKind, field: FieldChange, *, room: int) -> list[str]:
    note = f"  ({field.note})" if field.note else ""
    if kind in COMING or kind in GOING:
        value = field.after if kind in COMING else field.before
        lines = _lines(value, room=room - len(note))
        return [*lines[:-1], lines[-1] + note]
    if _is_list(field.before) and _is_list(field.after):
        gone = [f"- {item}" for item in field.before if item not in field.after]
        come = [f"+ {item}" for item in field.after if item not in field.before]
        first, *others = [_cut(line, room - len(note)) for line in (*gone, *come)] or ["in another order"]
        return [first + note, *others]
    return [f"{_both(_text(field.before), _text(field.after), room=room - len(note))}{note}"]


def _both(before: str, after: str, *, room: int) -> str:
    """Both values, cut where they are too long together: the longer one first."""
    left = room - len(" -> ")
    half = left // 2
    before_room = max(half, left - len(after))
    return f"{_cut(before, before_room)} -> {_cut(after, left - min(len(before), before_room))}"


def _is_list(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _lines(value: Any, *, room: int) -> list[str]:
    """A value on as many lines as its items need."""
    if not _is_list(value) or not value:
        return [_cut(_text(value), room)]
    lines = [""]
    for index, item in enumerate(value):
        text = _cut(item, room - 1) + ("," if index < len(value) - 1 else "")
        if lines[-1] and len(lines[-1]) + 1 + len(text) > room:
            lines.append(text)
        else:
            lines[-1] = f"{lines[-1]} {text}" if lines[-1] else text
    return lines


def _text(value: Any) -> str:
    if value is None:
        return "not set"
    if value in ("", [], {}):
        return '""' if value == "" else "none"
    if isinstance(value, str):
        return value
    return ", ".join(value) if _is_list(value) else json.dumps(value, sort_keys=True)


def _cut(text: str, room: int) -> str:
    return text if len(text) <= room else f"{text[: room - 1]}…"


def _sizes(sizes: Sequence[FlavorSize]) -> Iterator[str]:
    titles = [f"{size.pool}/{size.flavor}{' (Spot)' if size.spot else ''}" for size in sizes]
    width = min(max(len(title) for title in titles), WIDTH - 80)
    yield "Sizes"
    for title, size in zip(titles, sizes, strict=True):
        yield f"  {_cut(title, width):<{width}}  {_sum(size)}"
    if len(sizes) > 1:
        known = [size for size in sizes if size.total is not None]
        total = sum(size.total or 0 for size in known)
        gpus = sum(size.gpus or 0 for size in known)
        more = ", and those not known yet" if len(known) < len(sizes) else ""
        told = f"{total} {_plural('node', total)}, {gpus} {_plural('GPU', gpus)}{more}" if known else "not known yet"
        if any(size.bounds for size in known):
            least = sum((size.least if size.bounds else size.total) or 0 for size in known)
            most = sum(size.largest or 0 for size in known)
            told += f"; with autoscaling {least}..{most} nodes"
        yield f"  {'all':<{width}}  {told}"


def _sum(size: FlavorSize) -> str:
    nodes = f"{size.nodes} {_plural('node', size.nodes)}"
    scaling = ""
    if size.bounds:
        bounds = f"{size.bounds.min_nodes}..{size.bounds.max_nodes}"
        per_zone = f" per zone = {size.least}..{size.most}" if size.zones is not None else ""
        scaling = f", autoscaling {bounds}{per_zone}"
    if size.total is None:
        return f"{nodes} x zones not known yet{scaling}{' per zone' if scaling else ''}"
    gpus = f", {size.gpus} {_plural('GPU', size.gpus)}" if size.gpus else ""
    if size.zones is None:
        return f"{nodes}{gpus}{scaling}"
    return f"{nodes} x {size.zones} {_plural('zone', size.zones)} = {size.total}{gpus}{scaling}"


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
