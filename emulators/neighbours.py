# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What an emulated cloud needs from its neighbours: something that runs Kubernetes APIs, something that runs machines.

The clouds call these without holding a lock of their own, from their request threads and from the clock's thread,
and may be called back from within or from any other thread.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol


class ClusterApis(Protocol):
    """Runs one Kubernetes API per cluster."""

    def start(self, cluster: str) -> tuple[str, str]:
        """Start the API of a cluster and return once it answers.

        Arguments:
            cluster: the cluster's name, unique among those that exist; the same name may come again after `stop`.

        Returns:
            Its URL, and the certificate authority (PEM) that its certificate is to be checked against.
        """

    def stop(self, cluster: str) -> None:
        """Stop it and forget everything in it; one that does not run is no error."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """A machine of a node pool, e.g. an EC2 instance of a managed node group.

    Attributes:
        cluster: the name of the cluster that it joins.
        node_group: the name of its node pool.
        instance_id: what its cloud calls it, e.g. `i-` and 17 hex digits; unique for ever.
        instance_type: e.g. `p5.48xlarge`.
        zone: e.g. `us-east-1a`.
        node_name: the name that its Node will have, e.g. its private DNS name.
        provider_id: the Node's spec.providerID.
        labels: all labels that its kubelet registers with.
        taints: key, value and effect (NoSchedule, …, as Kubernetes spells it) of each.
        spot: whether it is a Spot instance.
        gpus: how many GPUs it has.
        gpu_model: e.g. `H100`; empty without GPUs.
    """

    cluster: str
    node_group: str
    instance_id: str
    instance_type: str
    zone: str
    node_name: str
    provider_id: str
    labels: Mapping[str, str]
    taints: tuple[Mapping[str, str], ...] = ()
    spot: bool = False
    gpus: int = 0
    gpu_model: str = ""


class MachineHost(Protocol):
    """Runs the machines."""

    def launch(self, machine: Machine, ready: Callable[[], None]) -> None:
        """Boot a machine. Returns at once.

        Arguments:
            ready: to be called once, when its Node has registered and is Ready; never after `terminate`.
        """

    def change(self, machine: Machine) -> None:
        """The labels or taints of a machine were changed: its Node follows. One that does not run is no error."""

    def terminate(self, instance_id: str) -> None:
        """End a machine without goodbye, now; its Node may linger. One that does not run is no error."""
