# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What concerns two parts of a flavor, or a flavor and its provider: bounds, marks, what the provider cannot give."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..model.capabilities import Capabilities
from ..model.declared import Taint
from ..model.node_marks import label_problems, long_keys, taint_problems
from .spelling import KeyPath
from .wording import found

Told = Iterator[tuple[KeyPath, str]]


def flavor_rules(path: KeyPath, flavor: Mapping[str, Any], can: Capabilities | None) -> Told:
    """Every problem of one flavor, as (path, message).

    Arguments:
        can: what the account's provider can do; None when the account is not known.
    """
    yield from _bounds(path, flavor)
    yield from _marks(path, flavor, can)
    if can is not None:
        yield from _lacking(path, flavor, can)


def _number(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _bounds(path: KeyPath, flavor: Mapping[str, Any]) -> Told:
    bounds = flavor.get("autoscaling")
    if not isinstance(bounds, Mapping):
        return
    nodes = _number(flavor.get("nodes"))
    least, most = _number(bounds.get("minNodes")), _number(bounds.get("maxNodes"))
    if most is not None and most < 1:
        return  # the model tells it
    if least is not None and most is not None and least > most:
        yield (*path, "autoscaling", "minNodes"), f"expected at most maxNodes ({found(most)}), found {found(least)}"
    elif nodes is not None and least is not None and nodes < least:
        yield (*path, "nodes"), f"expected at least autoscaling.minNodes ({found(least)}), found {found(nodes)}"
    elif nodes is not None and most is not None and nodes > most:
        yield (*path, "nodes"), f"expected at most autoscaling.maxNodes ({found(most)}), found {found(nodes)}"


def _marks(path: KeyPath, flavor: Mapping[str, Any], can: Capabilities | None) -> Told:
    labels, taints = flavor.get("labels"), flavor.get("taints")
    if isinstance(labels, Mapping):
        plain = {key: value for key, value in labels.items() if isinstance(key, str) and isinstance(value, str)}
        for key, why in label_problems(plain, empty_values=can is None or can.empty_label_values):
            yield (*path, "labels", *(() if key is None else (key,))), why
        yield from _too_long([((*path, "labels", key), key) for key in plain], can)
    if isinstance(taints, list):
        known = {index: taint for index, item in enumerate(taints) if (taint := _taint(item)) is not None}
        indexes = list(known)
        for at, field, why in taint_problems(list(known.values())):
            yield (*path, "taints", *(() if at is None else (indexes[at], field))), why
        yield from _too_long([((*path, "taints", index, "key"), taint.key) for index, taint in known.items()], can)


def _too_long(keys: list[tuple[KeyPath, str]], can: Capabilities | None) -> Told:
    if can is not None:
        yield from ((keys[index][0], why) for index, why in long_keys((key for _path, key in keys), can))


def _taint(item: object) -> Taint | None:
    """A taint whose parts are all text; what is not is told by the model."""
    if not isinstance(item, Mapping):
        return None
    key, value, effect = item.get("key"), item.get("value", ""), item.get("effect")
    if not (isinstance(key, str) and isinstance(value, str) and isinstance(effect, str)):
        return None
    return Taint(key=key, value=value, effect=effect)


def _lacking(path: KeyPath, flavor: Mapping[str, Any], can: Capabilities) -> Told:
    if "diskType" in flavor and not can.disk_type:
        size = " (diskGiB can be chosen)" if can.disk_size else ""
        yield (*path, "diskType"), f"{can.title} node pools have no disk type to choose: leave diskType out{size}"
    if "diskGiB" in flavor and not can.disk_size:
        yield (*path, "diskGiB"), f"{can.title} node pools take the disk of their machine type: leave diskGiB out"
    if "zones" in flavor and not can.zones:
        yield (*path, "zones"), f"{can.title} node pools are regional: leave zones out"
    bounds = flavor.get("autoscaling")
    to_zero = isinstance(bounds, Mapping) and _number(bounds.get("minNodes")) == 0
    if _number(flavor.get("nodes")) == 0 and not can.zero_nodes and not to_zero:
        yield (
            (*path, "nodes"),
            f"expected at least 1, found the number 0: a {can.title} node pool has no nodes only with "
            "autoscaling and its minNodes 0",
        )
