# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The life's document on each provider: only the account and what it calls places and machines differ."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from ansible_collections.better_compute.fleet.emulators.world import World

from .child import POOL
from .world import document

TOKEN_VARIABLE: Final = "LIFE_DIGITALOCEAN_TOKEN"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Cloud:
    """A provider as a document names it.

    Attributes:
        provider: the document's.
        emulated: the emulators' name of it, in the request log and the inventory.
        location: where the cluster is.
        machine_type: of every flavor.
        gpu_type: as the provider says it.
        zone: the one that the Spot flavor is pinned to, where there are zones.
        config: the account's, but for where the emulator is and the credential.
        config_of: what the account needs to reach the emulator.
    """

    provider: str
    emulated: str
    location: str
    machine_type: str
    gpu_type: str
    zone: str | None
    config: Mapping[str, Any]
    config_of: Callable[[World, Path], dict[str, Any]]

    def flavor(self, name: str, **fields: Any) -> dict[str, Any]:
        """One node of eight GPUs, a zone; what is given instead."""
        gpus = {"type": self.gpu_type, "count": 8}
        return {"name": name, "machineType": self.machine_type, "nodes": 1, "gpus": gpus, **fields}

    def spot_flavor(self, name: str, **fields: Any) -> dict[str, Any]:
        """The same on Spot, in one zone where there are zones."""
        pinned = {"zones": [self.zone]} if self.zone else {}
        return self.flavor(name, spot=True, **pinned, **fields)


def _gcp(world: World, folder: Path) -> dict[str, Any]:
    key = folder / "gcp.json"
    if not key.exists():
        key.write_text(json.dumps(world.gcp.service_account_key()))
    return {
        "projectId": world.gcp.project,
        "endpointUrl": world.gcp.endpoint_url,
        "credential": {"file": str(key)},
    }


def _digitalocean(world: World, _folder: Path) -> dict[str, Any]:
    return {
        "endpointUrl": world.digitalocean.endpoint_url,
        "caFile": str(world.digitalocean.ca_file),
        "credential": {"env": TOKEN_VARIABLE},
    }


AWS: Final = Cloud(
    provider="aws",
    emulated="aws",
    location="us-east-1",
    machine_type="p5.48xlarge",
    gpu_type="nvidia-h100",
    zone="us-east-1a",
    config=document()["providerAccounts"][0]["config"],
    config_of=lambda _world, _folder: {},
)
GKE: Final = Cloud(
    provider="gcp",
    emulated="gcp",
    location="us-central1",
    machine_type="a3-highgpu-8g",
    gpu_type="nvidia-h100-80gb",
    zone="us-central1-a",
    config={"zones": ["us-central1-a", "us-central1-b"]},
    config_of=_gcp,
)
DOKS: Final = Cloud(
    provider="digitalocean",
    emulated="digitalocean",
    location="nyc2",
    machine_type="gpu-h100x8-640gb",
    gpu_type="nvidia-h100",
    zone=None,
    config={"region": "nyc2", "allowSpot": True, "previews": True},
    config_of=_digitalocean,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """What documents name: the emulated world, and a folder for key files."""

    world: World
    folder: Path

    def document(
        self,
        flavors: Mapping[Cloud, Sequence[Mapping[str, Any]]],
        *,
        names: Mapping[Cloud, str] | None = None,
        create: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        """A document with one pool on each of these providers.

        Arguments:
            flavors: of each provider's pool.
            names: of the pools; each the life's own when none are given.
            create: more fields of `cluster.create`.
        """
        [pool] = document()["pools"]
        accounts, pools = [], []
        for cloud, declared in flavors.items():
            config = {**cloud.config, **cloud.config_of(self.world, self.folder)}
            accounts.append({"name": cloud.provider, "provider": cloud.provider, "config": config})
            substrate = {
                "kind": "kubernetes",
                "account": cloud.provider,
                "cluster": {"create": {"location": cloud.location, **(create or {})}},
                "flavors": list(declared),
            }
            pools.append(
                {
                    **pool,
                    "name": names[cloud] if names else POOL,
                    "policy": {"kubernetes": {"platformOperated": True}, "substrate": substrate},
                }
            )
        quotas = [{"tenantId": "platform", "pool": made["name"], "gpus": 64} for made in pools]
        return document(providerAccounts=accounts, pools=pools, quotas=quotas)
