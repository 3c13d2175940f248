# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Values inside a JSON column: flavors, substrates, cluster outputs, devices, to plain values and back.

Lists instead of tuples, None written out: so that a value read back equals the value that would be written.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields
from functools import cache
from typing import TYPE_CHECKING, Any

from ..model.declared import MANUAL_UPGRADES, AdoptCluster, Autoscaling, CreateCluster, Flavor, Gpus, Substrate, Taint
from ..model.records import ClusterOutputs, Device

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


def plain_flavor(flavor: Flavor) -> dict[str, Any]:
    """A flavor as plain values."""
    return {
        **_flat(flavor),
        "gpus": None if flavor.gpus is None else _flat(flavor.gpus),
        "zones": list(flavor.zones),
        "autoscaling": None if flavor.autoscaling is None else _flat(flavor.autoscaling),
        "labels": None if flavor.labels is None else dict(flavor.labels),
        "taints": None if flavor.taints is None else [_flat(taint) for taint in flavor.taints],
    }


def flavor_of(data: Mapping[str, Any]) -> Flavor:
    """A flavor from plain values; one that was recorded by an earlier version has not all of them."""
    gpus, autoscaling, taints = data["gpus"], data.get("autoscaling"), data.get("taints")
    return Flavor(
        **{
            **data,
            "zones": tuple(data["zones"]),
            "gpus": None if gpus is None else Gpus(**gpus),
            "autoscaling": None if autoscaling is None else Autoscaling(**autoscaling),
            "taints": None if taints is None else tuple(Taint(**taint) for taint in taints),
        }
    )


def plain_substrate(substrate: Substrate | None) -> dict[str, Any] | None:
    """A substrate as plain values."""
    if substrate is None:
        return None
    return {
        "account": substrate.account,
        "cluster": _flat(substrate.cluster),
        "flavors": [plain_flavor(flavor) for flavor in substrate.flavors],
        "upgrades": substrate.upgrades,
    }


def substrate_of(data: Mapping[str, Any] | None) -> Substrate | None:
    """A substrate from plain values."""
    if data is None:
        return None
    return Substrate(
        account=data["account"],
        cluster=_cluster_of(data["cluster"]),
        flavors=tuple(flavor_of(flavor) for flavor in data["flavors"]),
        upgrades=data.get("upgrades", MANUAL_UPGRADES),
    )


def _cluster_of(data: Mapping[str, Any]) -> CreateCluster | AdoptCluster:
    return AdoptCluster(**data) if "id" in data else CreateCluster(**data)


def plain_outputs(outputs: ClusterOutputs | None) -> dict[str, Any] | None:
    """A cluster's outputs as plain values."""
    return None if outputs is None else {**_flat(outputs), "zones": list(outputs.zones)}


def outputs_of(data: Mapping[str, Any] | None) -> ClusterOutputs | None:
    """A cluster's outputs from plain values; an earlier version recorded no zones."""
    return None if data is None else ClusterOutputs(**{**data, "zones": tuple(data.get("zones", ()))})


def plain_devices(devices: Iterable[Device]) -> list[dict[str, str]]:
    """Devices as plain values."""
    return [{"id": device.id, "model": device.model} for device in devices]


def devices_of(data: Iterable[Mapping[str, str]]) -> tuple[Device, ...]:
    """Devices from plain values."""
    return tuple(Device(id=device["id"], model=device["model"]) for device in data)


def _flat(value: DataclassInstance) -> dict[str, Any]:
    """A dataclass's fields as they are: dataclasses.asdict copies each in depth, which takes ten times as long."""
    return {name: getattr(value, name) for name in _names(type(value))}


@cache
def _names(kind: type[DataclassInstance]) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))
