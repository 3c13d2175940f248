# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""An emulated AWS as a process of its own whose clusters have many Nodes, and real machines behind a few of them only.

Says on one line where it is, as the emulators do. Then, for each line that it is sent, it tells what a machine would
read in its cluster: of every cluster without machines, the join token and the names of its Nodes.
"""

from __future__ import annotations

import base64
import json
import sys
from collections.abc import Callable
from typing import Any, Final

from ansible_collections.better_compute.fleet.emulators.aws import Timings
from ansible_collections.better_compute.fleet.emulators.aws.account import REGION
from ansible_collections.better_compute.fleet.emulators.machines import MachineTimes
from ansible_collections.better_compute.fleet.emulators.neighbours import Machine
from ansible_collections.better_compute.fleet.emulators.world import World

_HASTE: Final = 1000
_NAMESPACE: Final = "better-compute"
_SECRET: Final = "bcd-join"


class FewMachines:
    """Boots the machines of the first clusters, and registers mere Nodes in all others."""

    def __init__(self, world: World, *, real_clusters: int) -> None:
        """Take the place of the world's own way to launch machines."""
        self._apis = world.apis
        self._boot = world.machines.launch
        self._real_clusters = real_clusters
        self._real: list[str] = []
        self._mere: dict[str, list[str]] = {}
        world.machines.launch = self.launch  # type: ignore[method-assign]  # all else of the machines stays as it is

    def launch(self, machine: Machine, ready: Callable[[], None]) -> None:
        """As MachineHost.launch."""
        if machine.cluster not in self._real and len(self._real) < self._real_clusters:
            self._real.append(machine.cluster)
        if machine.cluster in self._real:
            self._boot(machine, ready)
            return
        cluster = self._apis.cluster(machine.cluster)
        if cluster is not None:
            cluster.put_node(machine.node_name, labels=machine.labels, provider_id=machine.provider_id)
            self._mere.setdefault(machine.cluster, []).append(machine.node_name)
            ready()

    def told(self) -> list[dict[str, Any]]:
        """The join token and the Nodes of each cluster without machines; no token where there is none yet."""
        return [{"token": self._token(name), "nodes": nodes} for name, nodes in sorted(self._mere.items())]

    def _token(self, name: str) -> str:
        cluster = self._apis.cluster(name)
        secret = cluster.read("Secret", _SECRET, _NAMESPACE) if cluster is not None else None
        return base64.b64decode(secret["data"]["token"]).decode() if secret is not None else ""


def main() -> None:
    """Serve until standard input ends. The argument: how many clusters have real machines."""
    with World(timings=Timings().divided_by(_HASTE), machine_times=MachineTimes().divided_by(_HASTE)) as world:
        machines = FewMachines(world, real_clusters=int(sys.argv[1]))
        keys = world.aws.operator
        _say(
            {
                "AWS_ENDPOINT_URL": world.aws.url,
                "AWS_ACCESS_KEY_ID": keys.access_key_id,
                "AWS_SECRET_ACCESS_KEY": keys.secret_access_key,
                "AWS_DEFAULT_REGION": REGION,
                "AWS_EC2_METADATA_DISABLED": "true",
            }
        )
        while sys.stdin.readline():
            _say(machines.told())


def _say(what: object) -> None:
    sys.stdout.write(json.dumps(what) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
