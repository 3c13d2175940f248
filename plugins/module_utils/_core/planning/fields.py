# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The one table that says of every declared field whether it may change, and what drift at the provider means for it.

Drift is found by the drivers (contract.Driver.compare): what they can change they put back, as the table says, and the
rest is told. The comparison of a document with the records is here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from ..model.declared import Account, AdoptCluster, CreateCluster, Flavor, Pool, Site, Substrate
from ..model.records import AccountRecord, PoolRecord, SiteRecord
from ..model.versions import is_older
from .changes import FieldChange, Resource

Values = Mapping[str, Any]


class Rule(StrEnum):
    """What a change of a field means.

    `key`: what it is known by: another value is another thing, beside this one. `identity`: it would be another thing:
    blocked, make a new one. `fixed`: set once: blocked, add another beside it. `fixed_in_use`: fixed while a substrate
    stands on it. `raised`: changed in place, and only upwards. `mutable`: changed in place.
    """

    KEY = "key"
    IDENTITY = "identity"
    FIXED = "fixed"
    FIXED_IN_USE = "fixed_in_use"
    RAISED = "raised"
    MUTABLE = "mutable"


class OnDrift(StrEnum):
    """What it means that the provider holds another value.

    `repair`: it is a change of the plan, and passes put it back. `report`: no provider takes it back in place: the plan
    warns. `ignore`: it is not compared, because it does not stand there, or is not only ours to move.
    """

    REPAIR = "repair"
    REPORT = "report"
    IGNORE = "ignore"


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldRule:
    """A field's rule.

    Attributes:
        unset_is_left_alone: not declaring it says nothing about it, rather than "none".
    """

    rule: Rule
    unset_is_left_alone: bool = False
    drift: OnDrift = OnDrift.IGNORE


_KEY = FieldRule(rule=Rule.KEY)
_IDENTITY = FieldRule(rule=Rule.IDENTITY)
_FIXED = FieldRule(rule=Rule.FIXED)
_FIXED_IN_USE = FieldRule(rule=Rule.FIXED_IN_USE)
_MUTABLE = FieldRule(rule=Rule.MUTABLE)
_REPAIRED = FieldRule(rule=Rule.MUTABLE, drift=OnDrift.REPAIR)
_SHAPE = FieldRule(rule=Rule.FIXED, drift=OnDrift.REPORT)
_SHAPE_OR_LEFT_ALONE = FieldRule(rule=Rule.FIXED, unset_is_left_alone=True, drift=OnDrift.REPORT)
_MARKS = FieldRule(rule=Rule.FIXED, unset_is_left_alone=True, drift=OnDrift.REPAIR)

FIELDS: Mapping[Resource, Mapping[str, FieldRule]] = {
    Resource.SITE: {"tenantId": _KEY, "region": _IDENTITY, "kind": _MUTABLE},
    Resource.ACCOUNT: {
        "tenantId": _KEY,
        "provider": _IDENTITY,
        "config.projectId": _IDENTITY,
        "config.region": _IDENTITY,
        # EKS sets a cluster's role and a node group's role and subnets once (provider-behaviours: immutable); the zones
        # decide how large every flavor is.
        "config.zones": _FIXED_IN_USE,
        "config.eksClusterRoleArn": _FIXED_IN_USE,
        "config.eksNodeRoleArn": _FIXED_IN_USE,
        "config.eksSubnetIds": _FIXED_IN_USE,
        "config.allowSpot": _MUTABLE,
        "config.previews": _MUTABLE,
        "config.endpointUrl": _MUTABLE,
        "config.caFile": _MUTABLE,
        "config.credential": _MUTABLE,
    },
    Resource.POOL: {
        "tenantId": _KEY,
        "site": _IDENTITY,
        "class": _IDENTITY,
        "gpuModel": _IDENTITY,
        "policy.kubernetes.platformOperated": _MUTABLE,
    },
    Resource.CLUSTER: {
        # "The account and the cluster's place (location, private nodes …) are the substrate's identity" (spec).
        "policy.substrate.account": _IDENTITY,
        "policy.substrate.cluster.create.location": _IDENTITY,
        "policy.substrate.cluster.create.privateNodes": FieldRule(rule=Rule.IDENTITY, drift=OnDrift.REPORT),
        # A version that the provider moved on is its own business: no provider goes back.
        "policy.substrate.cluster.create.version": FieldRule(rule=Rule.RAISED, unset_is_left_alone=True),
        "policy.substrate.cluster.adopt": _IDENTITY,
        "policy.substrate.upgrades": _MUTABLE,
    },
    Resource.NODE_POOL: {
        # With autoscaling, a count within the bounds is the autoscaler's: no drift.
        "nodes": _REPAIRED,
        "autoscaling.minNodes": _REPAIRED,
        "autoscaling.maxNodes": _REPAIRED,
        "machineType": _SHAPE,
        # It follows from the machine type where a node pool has no field of its own for it.
        "gpus.type": _FIXED,
        "gpus.count": _FIXED,
        "spot": _SHAPE,
        "diskGiB": _SHAPE_OR_LEFT_ALONE,
        "diskType": _SHAPE_OR_LEFT_ALONE,
        "zones": _SHAPE,
        "labels": _MARKS,
        "taints": _MARKS,
    },
    Resource.QUOTA: {"gpus": _MUTABLE},
}

REMEDY: Mapping[Resource, str] = {
    Resource.SITE: "create a new site instead",
    Resource.ACCOUNT: "add another provider account, and create a new pool on it, instead",
    Resource.POOL: "create a new pool instead",
    Resource.CLUSTER: "create a new pool instead",
    Resource.NODE_POOL: "add another flavor instead",
}
"""What to do where a change is blocked."""

VERSION = "policy.substrate.cluster.create.version"

LOWERED = "lowered"
"""The note of a field that may only be raised."""

_UNORDERED = frozenset({"zones", "eksSubnetIds"})
"""Lists in which order means nothing."""


def site_values(site: Site | SiteRecord) -> Values:
    """A site's fields."""
    return {"tenantId": str(site.tenant_id), "region": site.region, "kind": site.kind}


def account_values(account: Account | AccountRecord) -> Values:
    """An account's fields, the lists without an order sorted."""
    config = {
        f"config.{key}": sorted(value) if key in _UNORDERED else value for key, value in sorted(account.config.items())
    }
    return {"tenantId": str(account.tenant_id), "provider": account.provider, **config}


def pool_values(pool: Pool | PoolRecord, *, site: str | None) -> Values:
    """A pool's own fields; `site` is its site's title."""
    return {
        "tenantId": str(pool.tenant_id),
        "site": site,
        "class": pool.class_,
        "gpuModel": pool.gpu_model,
        "policy.kubernetes.platformOperated": pool.platform_operated,
    }


def substrate_values(substrate: Substrate) -> Values:
    """What a substrate's cluster is known by, and how it is kept; what is not set is None."""
    cluster = substrate.cluster
    made = cluster if isinstance(cluster, CreateCluster) else None
    return {
        "policy.substrate.account": substrate.account,
        "policy.substrate.cluster.create.location": made.location if made else None,
        "policy.substrate.cluster.create.privateNodes": made.private_nodes if made else None,
        VERSION: made.version if made else None,
        "policy.substrate.cluster.adopt": cluster.id if isinstance(cluster, AdoptCluster) else None,
        "policy.substrate.upgrades": substrate.upgrades,
    }


def flavor_values(flavor: Flavor) -> Values:
    """A flavor's fields; what is not set is None."""
    scaling, taints = flavor.autoscaling, flavor.taints
    return {
        "nodes": flavor.nodes,
        "autoscaling.minNodes": scaling.min_nodes if scaling else None,
        "autoscaling.maxNodes": scaling.max_nodes if scaling else None,
        "machineType": flavor.machine_type,
        "gpus.type": flavor.gpus.type if flavor.gpus else None,
        "gpus.count": flavor.gpus.count if flavor.gpus else None,
        "spot": flavor.spot,
        "diskGiB": flavor.disk_gib,
        "diskType": flavor.disk_type,
        "zones": sorted(set(flavor.zones)) or None,
        "labels": None if flavor.labels is None else dict(sorted(flavor.labels.items())),
        "taints": None if taints is None else [taint.to_data() for taint in sorted(taints)],
    }


def compare(resource: Resource, before: Values, after: Values, *, in_use: bool = True) -> tuple[FieldChange, ...]:
    """The fields that differ, in the table's order, each noted with the rule that blocks it, if one does.

    Arguments:
        in_use: whether a substrate stands on an account, for the fields that are fixed then.
    """
    if before == after:  # most are, and are not looked at field by field
        return ()
    changes = []
    for path, field in FIELDS[resource].items():
        old, new = before.get(path), after.get(path)
        if old == new or (new is None and field.unset_is_left_alone):
            continue
        changes.append(FieldChange(path=path, before=old, after=new, note=_note(field.rule, old, new, in_use=in_use)))
    return tuple(changes)


def _note(rule: Rule, old: Any, new: Any, *, in_use: bool) -> str:
    match rule:
        case Rule.MUTABLE:
            return ""
        case Rule.RAISED:
            return LOWERED if old and new and is_older(new, old) else ""
        case Rule.FIXED_IN_USE:
            return str(Rule.FIXED) if in_use else ""
    return str(rule)


def appearing(values: Values) -> tuple[FieldChange, ...]:
    """The fields of a new resource."""
    return tuple(
        FieldChange(path=path, before=None, after=value) for path, value in values.items() if value is not None
    )


def vanishing(values: Values) -> tuple[FieldChange, ...]:
    """The fields of a resource that goes."""
    return tuple(
        FieldChange(path=path, before=value, after=None) for path, value in values.items() if value is not None
    )
