# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""DOKS as the conformance cases' subject: the DigitalOcean emulator on virtual time, the driver's waits cut out."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from ansible_collections.better_compute.fleet.emulators.digitalocean import DigitalOcean
from ansible_collections.better_compute.fleet.emulators.engine import Engine, VirtualClock
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.ids import ClusterId, PoolId
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.labels import node_labels, owner_tags
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.contract import (
    ClusterSpec,
    NodePoolSpec,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.doks.api import Api, open_api
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.doks.driver import DoksDriver
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.doks.settings import DoksSettings

POOL = PoolId("pool_01kb5c0000000000000000000a")
TAGS = owner_tags(cluster_id=ClusterId("kcl_01kb5c0000000000000000000a"), pool_id=POOL)
CLUSTER = ClusterSpec(name="bc-01kb5c0000000000000000000a", location="nyc2", private_nodes=False, tags=TAGS)
NODE_POOL = NodePoolSpec(
    name="h100",
    machine_type="gpu-h100x8-640gb",
    nodes=4,
    places=(),
    spot=False,
    disk_gib=None,
    gpus_per_node=8,
    labels=node_labels(pool_id=POOL, spot=False),
    tags=TAGS,
)

_AN_HOUR_SECONDS = 3600
"""Longer than anything at DigitalOcean takes."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class DoksSubject:
    """Its parts are there for what only DOKS does.

    Attributes:
        waits: what the drivers waited for throttling, in seconds.
    """

    engine: Engine
    clock: VirtualClock
    cloud: DigitalOcean
    settings: DoksSettings
    api: Api
    waits: list[float] = dataclasses.field(default_factory=list)
    cluster: ClusterSpec = CLUSTER
    node_pool: NodePoolSpec = NODE_POOL

    def open(self) -> DoksDriver:
        """A driver. The client, which takes a while to make, is shared."""
        return DoksDriver(
            settings=self.settings, api=self.api, clock=self.clock, sleep=self.waits.append, jitter=lambda: 0.5
        )

    def settle(self) -> None:
        """Let an hour pass."""
        self.clock.advance(_AN_HOUR_SECONDS)

    def calls(self) -> int:
        """Requests to the emulator."""
        return len(self.engine.log.entries(cloud="digitalocean"))

    def writes(self) -> int:
        """Mutating requests that it carried out."""
        return len(self.engine.log.writes())

    def leftovers(self) -> Sequence[str]:
        """The emulator's inventory."""
        return [f"{item.kind} {item.id}" for item in self.engine.inventory.items(cloud="digitalocean")]


@contextmanager
def doks_subject(folder: Path) -> Iterator[DoksSubject]:
    """A fresh DigitalOcean with nothing in it.

    Arguments:
        folder: for the token and the CA.
    """
    clock = VirtualClock()
    engine = Engine(clock)
    try:
        with DigitalOcean(engine=engine, directory=folder) as cloud:
            token = folder / "digitalocean-token"
            token.write_text(cloud.token)
            settings = DoksSettings(
                region="nyc2",
                credential={"file": str(token)},
                allow_spot=True,
                previews=True,
                endpoint_url=cloud.endpoint_url,
                ca_file=str(cloud.ca_file),
            )
            yield DoksSubject(engine=engine, clock=clock, cloud=cloud, settings=settings, api=open_api(settings))
    finally:
        engine.close()
