# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The one table that says of every declared field whether it may change, and the comparison that goes by it.

Drift at the provider: a flavor's total is repaired (drift.py), a node pool's machine type, Spot and disk are reported
(no provider changes them in place); the others are not compared there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from ..model.declared import Account, Flavor, Pool, Site, Substrate
from ..model.records import AccountRecord, PoolRecord, SiteRecord
from .changes import FieldChange, Resource

Values = Mapping[str, Any]


class Rule(StrEnum):
    """What a change of a field means.

    `identity`: it would be another thing: blocked, make a new one. `fixed`: set once: blocked, add another beside it.
    `fixed_in_use`: fixed while a substrate stands on it. `mutable`: changed in place.
    """

    IDENTITY = "identity"
    FIXED = "fixed"
    FIXED_IN_USE = "fixed_in_use"
    MUTABLE = "mutable"


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldRule:
    """A field's rule.

    Attributes:
        unset_is_left_alone: not declaring it says nothing about it, rather than "none".
    """

    rule: Rule
    unset_is_left_alone: bool = False


_IDENTITY = FieldRule(rule=Rule.IDENTITY)
_FIXED = FieldRule(rule=Rule.FIXED)
_FIXED_IN_USE = FieldRule(rule=Rule.FIXED_IN_USE)
_MUTABLE = FieldRule(rule=Rule.MUTABLE)

FIELDS: Mapping[Resource, Mapping[str, FieldRule]] = {
    Resource.SITE: {"tenantId": _IDENTITY, "region": _IDENTITY, "kind": _MUTABLE},
    Resource.ACCOUNT: {
        "tenantId": _IDENTITY,
        "provider": _IDENTITY,
        "config.region": _IDENTITY,
        # EKS sets a cluster's role and a node group's role and subnets once (provider-behaviours: immutable); the zones
        # decide how large every flavor is.
        "config.zones": _FIXED_IN_USE,
        "config.eksClusterRoleArn": _FIXED_IN_USE,
        "config.eksNodeRoleArn": _FIXED_IN_USE,
        "config.eksSubnetIds": _FIXED_IN_USE,
        "config.endpointUrl": _MUTABLE,
        "config.caFile": _MUTABLE,
        "config.credential": _MUTABLE,
    },
    Resource.POOL: {
        "tenantId": _IDENTITY,
        "site": _IDENTITY,
        "class": _IDENTITY,
        "gpuModel": _IDENTITY,
        "policy.kubernetes.platformOperated": _MUTABLE,
    },
    Resource.CLUSTER: {
        # "The account and the cluster's place (location, private nodes …) are the substrate's identity" (spec).
        "policy.substrate.account": _IDENTITY,
        "policy.substrate.cluster.create.location": _IDENTITY,
        "policy.substrate.cluster.create.privateNodes": _IDENTITY,
    },
    Resource.NODE_POOL: {
        "nodes": _MUTABLE,
        "machineType": _FIXED,
        "gpus.type": _FIXED,
        "gpus.count": _FIXED,
        "spot": _FIXED,
        "diskGiB": FieldRule(rule=Rule.FIXED, unset_is_left_alone=True),
        "zones": _FIXED,
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
    """A pool's own fields; `site` is its site's name."""
    return {
        "tenantId": str(pool.tenant_id),
        "site": site,
        "class": pool.class_,
        "gpuModel": pool.gpu_model,
        "policy.kubernetes.platformOperated": pool.platform_operated,
    }


def substrate_values(substrate: Substrate) -> Values:
    """What a substrate's cluster is known by."""
    return {
        "policy.substrate.account": substrate.account,
        "policy.substrate.cluster.create.location": substrate.cluster.location,
        "policy.substrate.cluster.create.privateNodes": substrate.cluster.private_nodes,
    }


def flavor_values(flavor: Flavor) -> Values:
    """A flavor's fields; what is not set is None."""
    return {
        "nodes": flavor.nodes,
        "machineType": flavor.machine_type,
        "gpus.type": flavor.gpus.type if flavor.gpus else None,
        "gpus.count": flavor.gpus.count if flavor.gpus else None,
        "spot": flavor.spot,
        "diskGiB": flavor.disk_gib,
        "zones": sorted(set(flavor.zones)) or None,
    }


def compare(resource: Resource, before: Values, after: Values, *, in_use: bool = True) -> tuple[FieldChange, ...]:
    """The fields that differ, in the table's order, each noted with the rule that blocks it, if one does.

    Arguments:
        in_use: whether a substrate stands on an account, for the fields that are fixed then.
    """
    changes = []
    for path, field in FIELDS[resource].items():
        old, new = before.get(path), after.get(path)
        if old == new or (new is None and field.unset_is_left_alone):
            continue
        changes.append(FieldChange(path=path, before=old, after=new, note=_note(field.rule, in_use=in_use)))
    return tuple(changes)


def _note(rule: Rule, *, in_use: bool) -> str:
    if rule == Rule.FIXED_IN_USE:
        return str(Rule.FIXED) if in_use else ""
    return "" if rule == Rule.MUTABLE else str(rule)


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
