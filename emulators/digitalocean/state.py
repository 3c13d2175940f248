# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the parts of the emulator share: the clusters and droplets, the lock, the neighbours."""

from __future__ import annotations

from typing import Final

from ..engine import Changing, Engine, inventory
from ..neighbours import ClusterApis, MachineHost
from .capacity import Capacity
from .readings import Readings
from .records import DELETING, PROVISIONING, UPGRADING, Cluster, Droplet, NodePool
from .refusals import conflict, not_found
from .timings import Timings
from .tokens import Tokens

CLOUD: Final = "digitalocean"
CLUSTER_KIND: Final = "cluster"
NODE_POOL_KIND: Final = "node-pool"
LOAD_BALANCER_KIND: Final = "load-balancer"
VOLUME_KIND: Final = "volume"

_FIRST_DROPLET: Final = 400_000_000


class State(Changing):
    """The state of the one account. Everything in it is read and changed within `changing`."""

    def __init__(self, *, engine: Engine, apis: ClusterApis, machines: MachineHost, timings: Timings) -> None:
        """Nothing exists."""
        super().__init__(engine)
        self.apis = apis
        self.machines = machines
        self.timings = timings
        self.readings = Readings()
        self.capacity = Capacity()
        self.tokens = Tokens(engine.clock)
        self.clusters: dict[str, Cluster] = {}
        self.droplets: dict[int, Droplet] = {}
        self._last_droplet = _FIRST_DROPLET

    def cluster(self, cluster_id: str) -> Cluster:
        """The cluster, or 404."""
        cluster = self.clusters.get(cluster_id)
        if cluster is None:
            raise not_found()
        return cluster

    def pool(self, cluster_id: str, pool_id: str) -> tuple[Cluster, NodePool]:
        """The node pool and its cluster, or 404."""
        cluster = self.cluster(cluster_id)
        pool = cluster.pools.get(pool_id)
        if pool is None:
            raise not_found()
        return cluster, pool

    def check_changeable(self, cluster: Cluster) -> None:
        """Refuse a change to what is in a cluster while it is deleted, made or upgraded."""
        if cluster.state == DELETING:
            raise conflict("cluster is being deleted")
        if self.readings.busy_refuses and cluster.state in (PROVISIONING, UPGRADING):
            raise conflict(f"cluster is {cluster.state}")

    def add_droplet(self, *, name: str, cluster: Cluster, pool: NodePool) -> Droplet:
        """Another droplet of the account."""
        self._last_droplet += 1
        droplet = Droplet(
            id=self._last_droplet,
            name=name,
            size=pool.size,
            region=cluster.region,
            tags=pool.tags,
            created_at=self.engine.clock.now(),
        )
        self.droplets[droplet.id] = droplet
        self.engine.inventory.add(
            CLOUD,
            inventory.MACHINE,
            str(droplet.id),
            cluster=cluster.name,
            node_pool=pool.name,
            node_name=name,
        )
        return droplet

    def drop_droplet(self, droplet: Droplet) -> None:
        """A droplet is gone, also from the lists."""
        self.droplets.pop(droplet.id, None)
        self.engine.inventory.remove(CLOUD, inventory.MACHINE, str(droplet.id))

    def touch(self, cluster: Cluster) -> None:
        """It was changed now."""
        cluster.updated_at = self.engine.clock.now()
