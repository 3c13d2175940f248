# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is wrong with a wanted node pool: pure, every problem at once, by the limits that documents go by too.

Paths are in snake_case, as modules write them; the HTTP API spells its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...documents.places import gcp_region
from ...model.capabilities import CAPABILITIES, Capabilities
from ...model.declared import Autoscaling, Flavor
from ...model.errors import Problem
from ...model.limits import (
    ACCELERATOR,
    DISK_TYPE,
    EXPECTED,
    IDEMPOTENCY_KEY,
    LEAST_DISK_GIB,
    MACHINE_TYPE,
    MOST_ACCELERATORS,
    MOST_DISK_GIB,
    MOST_NODES,
    MOST_ZONES,
    NODE_POOL_NAME,
    TENANT,
    ZONE,
)
from ...model.node_marks import label_problems, long_keys, taint_problems
from ...model.records import AccountRecord, ClusterRecord, NodePoolRecord
from .wanted import FIXED_SIZE, WantedNodePool

_SHOWN_CHARACTERS = 60

Said = Iterator[tuple[str, str]]
"""(field, why), the field below the node pool's own path."""


def input_problems(wanted: WantedNodePool) -> list[Problem]:
    """What is wrong wherever it is to stand."""
    return problems_of(wanted, _input(wanted))


def all_problems(wanted: WantedNodePool, cluster: ClusterRecord, account: AccountRecord | None) -> list[Problem]:
    """What is wrong in itself, and what the cluster's provider, region and account do not have."""
    told = _input(wanted)
    fields = {_top(field) for field, _why in told}
    if account is not None:
        told += [(field, why) for field, why in _lacking_there(wanted, cluster, account) if _top(field) not in fields]
    return problems_of(wanted, told)


def new_problems(wanted: WantedNodePool) -> list[Problem]:
    """What a node pool that is not there yet cannot do without."""
    needed = (("machine_type", wanted.machine_type), ("node_count", wanted.node_count))
    return problems_of(wanted, [(name, "required for a new node pool") for name, value in needed if value is None])


def change_problems(wanted: WantedNodePool, before: NodePoolRecord) -> list[Problem]:
    """What can never change on a node pool that stands."""
    return problems_of(wanted, list(_fixed(wanted, before.shape)))


def size_problems(wanted: WantedNodePool, before: NodePoolRecord) -> list[Problem]:
    """A count that would be outside the bounds, one of the two wanted and the other one recorded."""
    count, bounds = resized(wanted, before.shape)
    if bounds is None or bounds.min_nodes <= count <= bounds.max_nodes:
        return []
    why = f"expected {bounds.min_nodes} to {bounds.max_nodes}, the bounds of its autoscaling"
    if wanted.node_count is None:
        why += f": {count} is recorded, so give a count with these bounds"
    else:
        why += f", found {count}: change the bounds too, or turn autoscaling off"
    return problems_of(wanted, [("node_count", why)])


def resized(wanted: WantedNodePool, shape: Flavor) -> tuple[int, Autoscaling | None]:
    """The count and bounds that a node pool has after the request."""
    count = shape.nodes if wanted.node_count is None else wanted.node_count
    if wanted.autoscaling is FIXED_SIZE:
        return count, None
    return count, shape.autoscaling if wanted.bounds is None else wanted.bounds


def problems_of(wanted: WantedNodePool, told: list[tuple[str, str]]) -> list[Problem]:
    """The problems with their whole paths."""
    prefix = f"{wanted.path}." if wanted.path else ""
    return [Problem(path=f"{prefix}{field}", message=why) for field, why in told]


def shown(value: object) -> str:
    """A value as a caller wrote it, cut where it is long."""
    text = repr(value)
    return text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}…"


def _top(field: str) -> str:
    return field.partition(".")[0].partition("[")[0]


def _input(wanted: WantedNodePool) -> list[tuple[str, str]]:
    told: list[tuple[str, str]] = []
    if wanted.pool is None and wanted.cluster_id is None:
        told.append(("pool", "name the pool, or the cluster by its cluster_id, here or for all"))
    told += _text("name", wanted.name if wanted.node_pool_id is None else None, NODE_POOL_NAME)
    told += _text("machine_type", wanted.machine_type, MACHINE_TYPE)
    told += _number("node_count", wanted.node_count, 0, MOST_NODES, "nodes per zone")
    told += _bounds(wanted.bounds, wanted.node_count)
    told += _number("disk_gib", wanted.disk_gib, LEAST_DISK_GIB, MOST_DISK_GIB, "GiB")
    told += _text("disk_type", wanted.disk_type, DISK_TYPE)
    if wanted.accelerators is not None:
        told += _text("accelerators.type", wanted.accelerators.type, ACCELERATOR)
        told += _number("accelerators.count", wanted.accelerators.count, 1, MOST_ACCELERATORS, "for each machine")
    told += _zones(wanted.zones or ())
    told += _marks(wanted)
    if wanted.idempotency_key is not None and not re.fullmatch(IDEMPOTENCY_KEY, wanted.idempotency_key, re.ASCII):
        told.append(("idempotency_key", f"expected {EXPECTED[TENANT]}, found {shown(wanted.idempotency_key)}"))
    return told


def _lacking_there(wanted: WantedNodePool, cluster: ClusterRecord, account: AccountRecord) -> Said:
    can = CAPABILITIES[account.provider]
    yield from _lacking(wanted, can)
    yield from _previewed_spot(wanted, account)
    yield from _marks_there(wanted, can)
    if can.zones:
        yield from _strange_zones(wanted.zones or (), cluster, account)


def _text(field: str, value: str | None, pattern: str) -> Said:
    if value is not None and not re.fullmatch(pattern, value, re.ASCII):
        yield field, f"expected {EXPECTED[pattern]}, found {shown(value)}"


def _number(field: str, value: int | None, least: int, most: int, unit: str) -> Said:
    # A bool is an int to Python, and no count to anybody else.
    if value is not None and (isinstance(value, bool) or not least <= value <= most):
        yield field, f"expected {least} to {most} {unit}, found {shown(value)}"


def _bounds(bounds: Autoscaling | None, count: int | None) -> Said:
    if bounds is None:
        return
    wrong = [
        *_number("autoscaling.min_nodes", bounds.min_nodes, 0, MOST_NODES, "nodes per zone"),
        *_number("autoscaling.max_nodes", bounds.max_nodes, 1, MOST_NODES, "nodes per zone"),
    ]
    yield from wrong
    if wrong:
        return
    if bounds.min_nodes > bounds.max_nodes:
        yield "autoscaling.min_nodes", f"expected at most max_nodes ({bounds.max_nodes}), found {bounds.min_nodes}"
    elif count is not None and not bounds.min_nodes <= count <= bounds.max_nodes:
        yield (
            "node_count",
            f"expected {bounds.min_nodes} to {bounds.max_nodes}, the bounds given with it, found {count}",
        )


def _zones(zones: tuple[str, ...]) -> Said:
    if len(zones) > MOST_ZONES:
        yield "zones", f"expected at most {MOST_ZONES}, found {len(zones)}"
    for index, zone in enumerate(zones):
        yield from _text(f"zones[{index}]", zone, ZONE)


def _marks(wanted: WantedNodePool) -> Said:
    for key, why in label_problems(wanted.labels or {}, empty_values=True):
        yield "labels" if key is None else f"labels.{key[:_SHOWN_CHARACTERS]}", why
    for index, field, why in taint_problems(wanted.taints or ()):
        yield "taints" if index is None else f"taints[{index}].{field}", why


def _lacking(wanted: WantedNodePool, can: Capabilities) -> Said:
    if wanted.spot and not can.spot:
        yield "spot", f"{can.title} has no Spot machines: leave it out"
    if wanted.disk_gib is not None and not can.disk_size:
        yield "disk_gib", f"{can.title} node pools take the disk of their machine type: leave it out"
    if wanted.disk_type is not None and not can.disk_type:
        size = " (disk_gib can be chosen)" if can.disk_size else ""
        yield "disk_type", f"{can.title} node pools have no disk type to choose: leave it out{size}"
    if wanted.zones and not can.zones:
        yield "zones", f"{can.title} node pools are regional: leave it out"
    if wanted.node_count == 0 and not can.zero_nodes and not (wanted.bounds and wanted.bounds.min_nodes == 0):
        yield "node_count", f"a {can.title} node pool has no nodes only with autoscaling and its min_nodes 0, found 0"


def _previewed_spot(wanted: WantedNodePool, account: AccountRecord) -> Said:
    """Spot at DigitalOcean is a preview, and the account has to say twice that it may be used (spec)."""
    if wanted.spot and account.provider == "digitalocean":
        missing = [name for name in ("allowSpot", "previews") if account.config.get(name) is not True]
        if missing:
            needed = " and ".join(missing)
            yield "spot", f"Spot is a preview at DigitalOcean: the config of account {account.name} needs {needed} true"


def _marks_there(wanted: WantedNodePool, can: Capabilities) -> Said:
    labels = wanted.labels or {}
    fields = [f"labels.{key[:_SHOWN_CHARACTERS]}" for key in labels]
    if not can.empty_label_values:
        for field, value in zip(fields, labels.values(), strict=True):
            if value == "":
                yield field, f"expected a value: {can.title} takes no label without one"
    yield from ((fields[index], why) for index, why in long_keys(labels, can))
    for index, why in long_keys((taint.key for taint in wanted.taints or ()), can):
        yield f"taints[{index}].key", why


def _strange_zones(zones: tuple[str, ...], cluster: ClusterRecord, account: AccountRecord) -> Said:
    known = account.zones or account.config.get("zones")
    # A GKE cluster may itself stand in one zone, and its nodes in any of the region's.
    region = gcp_region(cluster.location) or cluster.location
    abroad = sorted({zone for zone in zones if not _is_in(region, zone)})
    strange = sorted({zone for zone in zones if known and zone not in known} - set(abroad))
    if abroad:
        yield "zones", f"expected zones of the cluster's region {region}, found {', '.join(abroad)}"
    if strange:
        there = ", ".join(sorted(known or ()))
        yield "zones", f"expected zones of account {account.name} ({there}), found {', '.join(strange)}"


def _is_in(region: str, zone: str) -> bool:
    """Whether a zone is of a region, by its name: us-east-1a is of us-east-1, and us-east-10a is not."""
    rest = zone.removeprefix(region)
    return rest != zone and not rest[:1].isdigit()


def _fixed(wanted: WantedNodePool, shape: Flavor) -> Said:
    """Fields that differ from what stands. Order, and none said as empty or left out, make no difference."""
    fixed: tuple[tuple[str, object, object], ...] = (
        ("machine_type", wanted.machine_type, shape.machine_type),
        ("spot", wanted.spot, shape.spot),
        ("disk_gib", wanted.disk_gib, shape.disk_gib),
        ("disk_type", wanted.disk_type, shape.disk_type),
        ("accelerators", wanted.accelerators, shape.gpus),
        ("zones", None if wanted.zones is None else sorted(set(wanted.zones)), sorted(set(shape.zones))),
        ("labels", None if wanted.labels is None else dict(wanted.labels), dict(shape.labels or {})),
        ("taints", None if wanted.taints is None else sorted(wanted.taints), sorted(shape.taints or ())),
    )
    for field, asked, stands in fixed:
        if asked is not None and asked != stands:
            yield field, "never changes on a node pool that stands: delete it and create another"
