# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who owns which field, and server-side apply: kept as the real API does, for the shapes of schema.py.

A field is a path of `f:<field>` and `k:{"<key>":"<value>"}` steps, as in FieldsV1; only leaves (and whatever is
atomic) are tracked. A dot stands for a map, list or item itself. Not kept: subresources and several API versions.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

from .kinds import Kind
from .schema import Items, Leaf, Schema, StringMap, Struct
from .statuses import ApiRefusal

Path = tuple[str, ...]
_IDENTITY = frozenset({"name", "namespace", "uid", "resourceVersion"})
"""Fields of metadata that nobody owns; likewise apiVersion and kind."""

_ALWAYS_THERE = frozenset({"f:metadata", "f:spec", "f:template", "f:updateStrategy", "f:containers"})
"""Maps and lists that are in every object of a kind, so that nobody makes them."""


def owned_leaves(schema: Struct, obj: dict[str, Any]) -> dict[Path, Any]:
    """Every leaf of an object as posted or applied, with its value."""
    metadata = {key: value for key, value in obj["metadata"].items() if key not in _IDENTITY}
    body = {key: value for key, value in obj.items() if key in schema.fields and key not in ("apiVersion", "kind")}
    known = {key: value for key, value in metadata.items() if key in ("labels", "annotations")}
    return dict(_leaves(schema, body | {"metadata": known}, ()))


def own_all(kind: Kind, obj: dict[str, Any], *, manager: str, time: str) -> None:
    """Let whoever creates an object own all that is in it, in place."""
    assert kind.schema is not None
    leaves = set(owned_leaves(kind.schema, obj))
    fields = leaves | _ways(leaves)
    if fields:
        line = _entry(manager=manager, operation="Update", api_version=kind.api_version, time=time, fields=fields)
        obj["metadata"]["managedFields"] = [line]


def own_changes(kind: Kind, live: dict[str, Any], changed: dict[str, Any], *, manager: str, time: str) -> None:
    """Let whoever writes a changed object own what is new or another in it; what is gone nobody owns. In place."""
    assert kind.schema is not None
    before, after = owned_leaves(kind.schema, live), owned_leaves(kind.schema, changed)
    touched = {path for path, value in after.items() if path not in before or before[path] != value}
    touched |= {way for way in _ways(touched) if not _stands(live, way[:-1])}
    lines = list(live["metadata"].get("managedFields", []))
    if not any((line["manager"], line["operation"]) == (manager, "Update") for line in lines):
        lines.append(_entry(manager=manager, operation="Update", api_version=kind.api_version, time=time, fields=set()))
    kept = []
    for line in lines:
        fields = _from_tree(line["fieldsV1"])
        standing = {path for path in fields if _stands(changed, path)}
        if (line["manager"], line["operation"]) == (manager, "Update"):
            now, written_at = standing | touched, time
        else:
            now, written_at = standing - touched, line["time"]
        if now:
            kept.append(line if now == fields else line | {"fieldsV1": _to_tree(now), "time": written_at})
    changed["metadata"]["managedFields"] = kept


def _ways(leaves: set[Path]) -> set[Path]:
    """The maps and lists on the way: the API marks with a dot who made one that was not there before."""
    return {
        (*path[:end], ".")
        for path in leaves
        for end in range(1, len(path))
        if path[end - 1] not in _ALWAYS_THERE and path[end] != "."
    }


def _entry(*, manager: str, operation: str, api_version: str, time: str, fields: set[Path]) -> dict[str, Any]:
    """One line of managedFields."""
    return {
        "manager": manager,
        "operation": operation,
        "apiVersion": api_version,
        "time": time,
        "fieldsType": "FieldsV1",
        "fieldsV1": _to_tree(fields),
    }


def apply(
    schema: Struct, live: dict[str, Any], wanted: dict[str, Any], *, manager: str, force: bool, time: str
) -> dict[str, Any]:
    """The object after a server-side apply; equal to the live one when nothing changed.

    Arguments:
        live: as it stands, with managedFields.
        wanted: as it was applied.

    Raises:
        ApiRefusal: 409 when another manager owns a field with another value, unless forced.
    """
    leaves = owned_leaves(schema, wanted)
    standing = owned_leaves(schema, live)
    changed = {path for path, value in leaves.items() if path not in standing or standing[path] != value}
    entries = [(line, _from_tree(line["fieldsV1"])) for line in live["metadata"].get("managedFields", [])]
    mine: set[Path] = set()
    others: list[tuple[dict[str, Any], set[Path]]] = []
    conflicts: list[tuple[str, str]] = []
    for line, fields in entries:
        if line["manager"] == manager and line["operation"] == "Apply":
            mine = fields
            continue
        taken = fields & changed
        conflicts += [(_named(line), "".join(_dotted(path))) for path in sorted(taken)]
        others.append((line, fields - taken))
    if conflicts and not force:
        raise _conflict(conflicts)

    result = copy.deepcopy(live)
    owned_by_others: set[Path] = set().union(*(fields for _line, fields in others))
    owned = owned_by_others | set(leaves)
    dropped = {path for path in mine - owned if not any(one[: len(path)] == path for one in owned)}
    # An item's key comes last: with it goes the item.
    for path in sorted(dropped, key=lambda path: (_is_item_key(path), path)):
        _remove(result, path)
    _merge(schema, result, {key: value for key, value in wanted.items() if key != "metadata"})
    for key in ("labels", "annotations"):
        if key in wanted["metadata"]:
            result["metadata"].setdefault(key, {}).update(wanted["metadata"][key])

    kept = [line | {"fieldsV1": _to_tree(fields)} for line, fields in others if fields]
    own = _entry(manager=manager, operation="Apply", api_version=live["apiVersion"], time=time, fields=set(leaves))
    if result == live and mine == set(leaves):
        return result
    result["metadata"]["managedFields"] = [*kept, own]
    return result


def _leaves(schema: Schema, value: Any, path: Path) -> Iterator[tuple[Path, Any]]:
    if isinstance(schema, Leaf) or value is None or (value in ({}, []) and path[:1] != ("f:metadata",)):
        yield path, value
    elif isinstance(schema, StringMap):
        if schema.atomic:
            yield path, value
        else:
            for key, inner in value.items():
                yield (*path, f"f:{key}"), inner
    elif isinstance(schema, Items):
        if schema.is_set:
            for item in value:
                yield (*path, "v:" + json.dumps(item)), None
        elif schema.key is None:
            yield path, value
        else:
            for item in value:
                step = "k:" + json.dumps({schema.key: item[schema.key]}, separators=(",", ":"))
                yield (*path, step, "."), None
                yield from _leaves(schema.item, item, (*path, step))
    elif schema.atomic:
        yield path, value
    else:
        for key, inner in value.items():
            if key in schema.fields:
                yield from _leaves(schema.fields[key], inner, (*path, f"f:{key}"))


def _merge(schema: Schema, live: Any, wanted: Any) -> None:
    """Merge a struct's or map's wanted fields into the live one, in place."""
    for key, value in wanted.items():
        below = schema.fields[key] if isinstance(schema, Struct) else Leaf((str,))
        live[key] = _merged(below, live.get(key), value)


def _merged(schema: Schema, live: Any, wanted: Any) -> Any:
    granular = (isinstance(schema, Struct | StringMap) and not schema.atomic) or (
        isinstance(schema, Items) and schema.key is not None
    )
    if isinstance(schema, Items) and schema.is_set:
        return [*(live or []), *(item for item in wanted if item not in (live or []))]
    if not granular or live is None:
        return copy.deepcopy(wanted)
    if isinstance(schema, Items):
        assert schema.key is not None
        items = {item[schema.key]: item for item in live}
        for item in wanted:
            items[item[schema.key]] = _merged(schema.item, items.get(item[schema.key]), item)
        return list(items.values())
    _merge(schema, live, wanted)
    return live


def _is_item_key(path: Path) -> bool:
    """Whether the path is that of a list item's key: `k:{"name":"x"}`, `f:name`."""
    return len(path) > 1 and path[-2].startswith("k:") and path[-1][2:] in json.loads(path[-2][2:])


def _remove(obj: Any, path: Path) -> None:
    """Take a leaf out; with an item's key, the item."""
    if path[-1] == ".":
        return
    *way, last = path[:-1] if _is_item_key(path) else path
    parent = obj
    for step in way:
        parent = _step(parent, step)
        if parent is None:
            return
    if last.startswith("f:"):
        parent.pop(last[2:], None)
    elif last.startswith("v:"):
        parent.remove(json.loads(last[2:]))
    elif (item := _step(parent, last)) is not None:
        parent.remove(item)


def _step(parent: Any, step: str) -> Any:
    if step.startswith("f:"):
        return parent.get(step[2:])
    ((key, value),) = json.loads(step[2:]).items()
    return next((item for item in parent if item.get(key) == value), None)


def _stands(obj: dict[str, Any], path: Path) -> bool:
    at: Any = obj
    for step in path:
        if step == ".":
            return True
        if step.startswith("v:"):
            return json.loads(step[2:]) in at
        at = _step(at, step)
        if at is None:
            return False
    return True


def _to_tree(fields: set[Path]) -> dict[str, Any]:
    tree: dict[str, Any] = {}
    above = {path[:end] for path in fields for end in range(1, len(path))}
    for path in sorted((*path, ".") if path in above else path for path in fields):
        node = tree
        for step in path:
            node = node.setdefault(step, {})
    return _without_lone_dots(tree)


def _without_lone_dots(tree: dict[str, Any]) -> dict[str, Any]:
    """As it is written: a dot stands beside others only."""
    return {} if tree.keys() == {"."} else {step: _without_lone_dots(below) for step, below in tree.items()}


def _from_tree(tree: dict[str, Any], path: Path = ()) -> set[Path]:
    if not tree:
        return {path} if path else set()
    return set().union(*(_from_tree(inner, (*path, step)) for step, inner in tree.items()))


def _dotted(path: Path) -> Iterator[str]:
    for step in path:
        if step.startswith("f:"):
            yield f".{step[2:]}"
        elif step.startswith("v:"):
            yield f"[={step[2:]}]"
        else:
            ((key, value),) = json.loads(step[2:]).items()
            yield f'[{key}="{value}"]'


def _conflict(conflicts: list[tuple[str, str]]) -> ApiRefusal:
    if len(conflicts) == 1:
        text = "1 conflict: conflict with {}: {}".format(*conflicts[0])
    else:
        lines = []
        for manager in sorted({manager for manager, _path in conflicts}):
            lines.append(f"conflicts with {manager}:")
            lines += [f"- {path}" for holder, path in conflicts if holder == manager]
        text = f"{len(conflicts)} conflicts: " + "\n".join(lines)
    return ApiRefusal(
        409,
        f"Apply failed with {text}",
        details={
            "causes": [
                {"reason": "FieldManagerConflict", "message": f"conflict with {manager}", "field": path}
                for manager, path in conflicts
            ]
        },
    )


def _named(line: dict[str, Any]) -> str:
    """How conflicts name a manager."""
    return f'"{line["manager"]}"' + ("" if line["operation"] == "Apply" else f" using {line['apiVersion']}")
