# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The way back: a FleetConfig as the plain data of a document, and an edit of one substrate laid over that.

For whoever changes a part of what is recorded: the result goes through parse_document like anybody's document.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..model.declared import (
    MANUAL_UPGRADES,
    Account,
    AdoptCluster,
    CreateCluster,
    Flavor,
    FleetConfig,
    Pool,
    Site,
    Substrate,
)

KIND = "kubernetes"
"""The only kind of substrate that there is."""


def document_data(config: FleetConfig) -> dict[str, Any]:
    """A document of which parse_document makes this very FleetConfig."""
    return {
        "version": config.version,
        "sites": [_site(site) for site in config.sites],
        "providerAccounts": [_account(account) for account in config.accounts],
        "pools": [_pool(pool) for pool in config.pools],
        "quotas": [
            {"tenantId": str(quota.tenant_id), "pool": quota.pool, "gpus": quota.gpus} for quota in config.quotas
        ],
    }


def edited_substrate(standing: Mapping[str, Any] | None, edit: Mapping[str, Any]) -> dict[str, Any]:
    """A substrate's data with an edit laid over it: what the edit does not say stays.

    Arguments:
        standing: as the document spells it; None where there is none yet.
        edit: any of `account`, `cluster`, `flavors` and `upgrades`, spelt likewise; mappings and lists where those
            belong, but not known to be valid otherwise. A flavor is laid over the standing one of its name, and those
            that it does not name are left out. `autoscaling: {"enabled": false}` takes autoscaling away; else
            `enabled` says nothing.
    """
    before = dict(standing or {})
    result = {"kind": KIND, **before, **{key: edit[key] for key in ("account", "upgrades") if key in edit}}
    if "cluster" in edit:
        result["cluster"] = _cluster(before.get("cluster", {}), edit["cluster"])
    if "flavors" in edit:
        flavors = {flavor["name"]: flavor for flavor in before.get("flavors", ())}
        result["flavors"] = [_edited_flavor(flavors.get(flavor.get("name"), {}), flavor) for flavor in edit["flavors"]]
    return result


def _cluster(before: Mapping[str, Any], edit: Mapping[str, Any]) -> Mapping[str, Any]:
    if "adopt" in edit:
        return edit
    return {"create": {**before.get("create", {}), **edit.get("create", {})}}


def _edited_flavor(before: Mapping[str, Any], edit: Mapping[str, Any]) -> dict[str, Any]:
    result = {**before, **edit}
    if "gpus" in edit:
        result["gpus"] = {**before.get("gpus", {}), **edit["gpus"]}
    if "autoscaling" in edit:
        bounds = {**before.get("autoscaling", {}), **edit["autoscaling"]}
        if bounds.pop("enabled", True):
            result["autoscaling"] = bounds
        else:
            del result["autoscaling"]
    return result


def _site(site: Site) -> dict[str, Any]:
    return {"name": site.name, "kind": site.kind, "region": site.region, "tenantId": str(site.tenant_id)}


def _account(account: Account) -> dict[str, Any]:
    return {
        "name": account.name,
        "provider": account.provider,
        "config": dict(account.config),
        "tenantId": str(account.tenant_id),
    }


def _pool(pool: Pool) -> dict[str, Any]:
    policy: dict[str, Any] = {"kubernetes": {"platformOperated": pool.platform_operated}}
    if pool.substrate is not None:
        policy["substrate"] = _substrate(pool.substrate)
    return {
        "name": pool.name,
        "site": pool.site,
        "class": pool.class_,
        "gpuModel": pool.gpu_model,
        "tenantId": str(pool.tenant_id),
        "policy": policy,
    }


def _substrate(substrate: Substrate) -> dict[str, Any]:
    upgrades = {"upgrades": substrate.upgrades} if substrate.upgrades != MANUAL_UPGRADES else {}
    return {
        "kind": KIND,
        "account": substrate.account,
        "cluster": _declared_cluster(substrate.cluster),
        "flavors": [_flavor(flavor) for flavor in substrate.flavors],
        **upgrades,
    }


def _declared_cluster(cluster: CreateCluster | AdoptCluster) -> dict[str, Any]:
    if isinstance(cluster, AdoptCluster):
        return {"adopt": cluster.id}
    create = {"location": cluster.location, "privateNodes": cluster.private_nodes, "version": cluster.version}
    return {"create": _told(create)}


def _flavor(flavor: Flavor) -> dict[str, Any]:
    gpus, scaling = flavor.gpus, flavor.autoscaling
    return _told(
        {
            "name": flavor.name,
            "machineType": flavor.machine_type,
            "nodes": flavor.nodes,
            "gpus": {"type": gpus.type, "count": gpus.count} if gpus else None,
            "spot": flavor.spot,
            "diskGiB": flavor.disk_gib,
            "diskType": flavor.disk_type,
            "zones": list(flavor.zones) or None,
            "autoscaling": {"minNodes": scaling.min_nodes, "maxNodes": scaling.max_nodes} if scaling else None,
            "labels": None if flavor.labels is None else dict(flavor.labels),
            "taints": None
            if flavor.taints is None
            else [
                _told({"key": taint.key, "value": taint.value or None, "effect": taint.effect})
                for taint in flavor.taints
            ],
        }
    )


def _told(values: Mapping[str, Any]) -> dict[str, Any]:
    """What has a value: null is none in a document."""
    return {key: value for key, value in values.items() if value is not None}
