# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The scene of a life: emulated world and gateway on one virtual clock, a database, and the settings that name them."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from ansible_collections.better_compute.fleet.daemon.gateway import Certificate, GatewayServer, ensure_certificate
from ansible_collections.better_compute.fleet.daemon.gateway.together import TOGETHER_SECONDS
from ansible_collections.better_compute.fleet.emulators.aws import Timings
from ansible_collections.better_compute.fleet.emulators.aws.account import Credentials
from ansible_collections.better_compute.fleet.emulators.digitalocean import Timings as DigitalOceanTimings
from ansible_collections.better_compute.fleet.emulators.engine import Engine, VirtualClock
from ansible_collections.better_compute.fleet.emulators.kubernetes import Authenticator, KubernetesApis
from ansible_collections.better_compute.fleet.emulators.machines import MachineTimes
from ansible_collections.better_compute.fleet.emulators.world import World
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.clock import Clock
from ansible_collections.better_compute.fleet.plugins.module_utils._core.store import Store, create_schema, open_store

if TYPE_CHECKING:
    from ansible_collections.better_compute.fleet.emulators.gcp import Timings as GcpTimings
    from ansible_collections.better_compute.fleet.tests.support.controlplane.cluster import RealCluster

FLUSH_SECONDS = 8
"""Between two batches of heartbeats: as seldom as the gateway's mark allows, because each costs a transaction."""

TIMINGS = Timings(
    cluster_create=25,
    cluster_delete=25,
    node_group_launch=5,
    node_group_update=5,
    node_group_delete=20,
    node_wait=120,
    replace=30,
)
"""Short, but each longer than nothing: every state of a cluster and a node group is seen by some pass."""

DIGITALOCEAN_TIMINGS = DigitalOceanTimings(
    cluster_create=25,
    cluster_delete=25,
    cluster_upgrade=20,
    droplet_create=5,
    drivers_healthy=5,
    node_drain=5,
    node_delete=5,
    droplet_linger=10,
    replace=30,
)
"""The same at DigitalOcean. GKE's are in gcp_timings, because Google's types take their time to load."""

MACHINE_TIMES = MachineTimes(boot_seconds=10, node_gone_seconds=5, secret_sync_seconds=2, spot_notice_seconds=5)

Environment = Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """What a life is played on.

    Attributes:
        clock: the world's.
        product_clock: the product's, which may be wrong.
        store: the gateway's own, for looking into the records as well.
        database_url: the same database, for other processes.
        environment: the settings and the AWS account, as environment variables of whoever runs passes.
    """

    world: World
    clock: VirtualClock
    product_clock: Clock
    gateway: GatewayServer
    store: Store
    database_url: str
    environment: Environment

    @property
    def engine(self) -> Engine:
        """The emulators' engine: request log, inventory, faults."""
        return self.world.engine


@dataclass(frozen=True, slots=True)
class WrongClock:
    """A clock that is ahead of another one, always by the same time."""

    right: Clock
    fast_by: timedelta

    def now(self) -> datetime:
        """The wrong time."""
        return self.right.now() + self.fast_by


@contextmanager
def scene(
    database_url: str,
    *,
    timings: Timings = TIMINGS,
    gcp: bool = False,
    fast_by: timedelta = timedelta(),
    credentials: Callable[[World], Credentials] = lambda world: world.aws.operator,
    real: RealCluster | None = None,
) -> Iterator[Scene]:
    """A fresh world and a gateway on an empty database.

    Arguments:
        gcp: whether GKE is to be as quick as the others: its types are loaded for that.
        fast_by: how far the product's clock is ahead of all others; less than nothing: how far behind.
        credentials: whose key the product's process is given.
        real: an empty real cluster, which is the world's one cluster then; all else is emulated, on virtual time.
    """
    clock = VirtualClock()
    ours: Clock = WrongClock(clock, fast_by) if fast_by else clock
    if database_url.startswith("postgresql"):
        create_schema(database_url)
    store = open_store(database_url, clock=ours)
    try:
        with (
            GatewayServer(
                store=store,
                clock=ours,
                certificate=_certificate(),
                host="127.0.0.1",
                port=0,
                # Virtual time stands still while a machine waits for the gateway. On a real API time passes anyhow.
                together_seconds=0 if real is None else TOGETHER_SECONDS,
            ) as gateway,
            World(
                engine=Engine(clock),
                timings=timings,
                gcp_timings=gcp_timings() if gcp else None,
                digitalocean_timings=DIGITALOCEAN_TIMINGS,
                machine_times=MACHINE_TIMES,
                apis=None if real is None else partial(_real_apis, real),
            ) as world,
        ):
            flush_while_it_answers(clock, gateway, store)
            yield Scene(
                world=world,
                clock=clock,
                product_clock=ours,
                gateway=gateway,
                store=store,
                database_url=database_url,
                environment=_environment(world, credentials(world), gateway, database_url),
            )
    finally:
        store.close()


def gcp_timings() -> GcpTimings:
    """How quick GKE is in a life: short, but GKE is busy by itself with a cluster that it has just made."""
    from ansible_collections.better_compute.fleet.emulators.gcp import Timings

    return Timings(
        cluster_create=25,
        after_create=15,
        cluster_delete=25,
        cluster_upgrade=20,
        pending=1,
        node_pool_create=5,
        node_pool_resize=5,
        node_pool_update=5,
        node_pool_roll=5,
        node_pool_delete=20,
        capacity_wait=120,
        spot_notice=5,
        replace=30,
    )


def _real_apis(real: RealCluster, engine: Engine, authenticator: Authenticator) -> KubernetesApis:
    from ansible_collections.better_compute.fleet.tests.support.controlplane.cloud_clusters import (
        OneRealClusterBehindEngine,
    )

    # It has all that is used of them in a life at AWS, whose machines never change their labels.
    return cast("KubernetesApis", OneRealClusterBehindEngine(engine=engine, authenticator=authenticator, real=real))


def flush_while_it_answers(clock: VirtualClock, gateway: GatewayServer, store: Store) -> None:
    """Write what the gateway heard, again and again, until it is closed."""

    def flush() -> None:
        if gateway.answers:
            gateway.heartbeats.flush(store)
            clock.call_later(FLUSH_SECONDS, flush)

    flush()


@contextmanager
def another_gateway(on: Scene) -> Iterator[GatewayServer]:
    """A gateway in the place of the scene's, which was closed: with its key and port, and on its database."""
    with GatewayServer(
        store=on.store, clock=on.product_clock, certificate=_certificate(), host="127.0.0.1", port=on.gateway.port
    ) as gateway:
        flush_while_it_answers(on.clock, gateway, on.store)
        yield gateway


def _environment(world: World, key: Credentials, gateway: GatewayServer, database_url: str) -> dict[str, str]:
    environment = {
        "AWS_ENDPOINT_URL": world.aws.url,
        "AWS_ACCESS_KEY_ID": key.access_key_id,
        "AWS_SECRET_ACCESS_KEY": key.secret_access_key,
        "AWS_EC2_METADATA_DISABLED": "true",
        "BC_FLEET_STORE_DATABASE_URL": database_url,
        "BC_FLEET_AGENT_IMAGE": "registry.example/bcd:1",
        "BC_FLEET_AGENT_GATEWAY_URL": f"https://127.0.0.1:{gateway.port}",
        "BC_FLEET_AGENT_PINS": _certificate().pin,
        "BC_FLEET_RECONCILE_WORKERS": "1",
        "BC_FLEET_RECONCILE_DELETING_SECONDS": "30",
        "BC_FLEET_OPERATOR": "life",
    }
    if key.session_token is not None:
        environment["AWS_SESSION_TOKEN"] = key.session_token
    return environment


@cache
def _certificate() -> Certificate:
    """One key for all gateways of a test process: it is no part of what a life is about."""
    folder = Path(tempfile.mkdtemp(prefix="bc-life-key-"))
    atexit.register(shutil.rmtree, folder)
    return ensure_certificate(folder, hosts=["127.0.0.1"])


def document(**changes: Any) -> dict[str, Any]:
    """The FleetConfig document of a life: an ordinary flavor in two zones and a Spot flavor in one."""
    gpus = {"type": "nvidia-h100", "count": 8}
    flavors = [
        {"name": "h100", "machineType": "p5.48xlarge", "nodes": 1, "gpus": gpus},
        {
            "name": "h100-spot",
            "machineType": "p5.48xlarge",
            "nodes": 1,
            "gpus": gpus,
            "spot": True,
            "zones": ["us-east-1a"],
        },
    ]
    made: dict[str, Any] = {
        "version": 1,
        "sites": [{"name": "k8s", "kind": "shared", "region": "us-east-1"}],
        "providerAccounts": [
            {
                "name": "managed-k8s",
                "provider": "aws",
                "config": {
                    "region": "us-east-1",
                    "zones": ["us-east-1a", "us-east-1b"],
                    "eksClusterRoleArn": "arn:aws:iam::111111111111:role/eks-cluster",
                    "eksNodeRoleArn": "arn:aws:iam::111111111111:role/eks-node",
                    "eksSubnetIds": ["subnet-0000000000000000a", "subnet-0000000000000000b"],
                },
            }
        ],
        "pools": [
            {
                "name": "gpu-fleet",
                "site": "k8s",
                "class": "metal-host",
                "gpuModel": "H100",
                "policy": {
                    "kubernetes": {"platformOperated": True},
                    "substrate": {
                        "kind": "kubernetes",
                        "account": "managed-k8s",
                        "cluster": {"create": {"location": "us-east-1"}},
                        "flavors": flavors,
                    },
                },
            }
        ],
        "quotas": [{"tenantId": "platform", "pool": "gpu-fleet", "gpus": 16}],
    }
    return {**made, **changes}


def life_document(*, most: int = 2) -> dict[str, Any]:
    """The document that a life declares: its Spot flavor is autoscaled and has a label.

    Arguments:
        most: the autoscaler's upper bound.
    """
    made = document()
    spot = made["pools"][0]["policy"]["substrate"]["flavors"][1]
    spot |= {"autoscaling": {"minNodes": 1, "maxNodes": most}, "labels": {"team": "ml"}}
    return made


def without_pools() -> dict[str, Any]:
    """The document when its pool was taken out."""
    return document(pools=[], quotas=[])
