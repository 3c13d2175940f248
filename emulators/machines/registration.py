# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The Nodes of one machine: the one that its kubelet keeps, and those that it left behind under other names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ..kubernetes import EmulatedCluster
from ..neighbours import Machine

HOSTNAME_LABEL = "kubernetes.io/hostname"


class Registration:
    """What a cluster holds of one machine. Touches no Node but the machine's own, whatever their names.

    Attributes:
        uid: of the Node that the kubelet keeps; None while there is none.
    """

    def __init__(self, cluster: EmulatedCluster) -> None:
        """Nothing is registered."""
        self._cluster = cluster
        self._name = ""
        self.uid: str | None = None
        self._left: list[tuple[str, str]] = []

    def register(self, machine: Machine) -> None:
        """The kubelet starts: its Node is Ready again if it still stands, and else a new one, with a UID of its own."""
        if self.uid is not None and self._cluster.update_node(machine.node_name, ready=True, uid=self.uid):
            return
        self._name = machine.node_name
        self.uid = self._cluster.put_node(
            machine.node_name, labels=machine.labels, provider_id=machine.provider_id, taints=machine.taints
        )

    def amend(
        self,
        *,
        labels: Mapping[str, str | None],
        taints: Sequence[Mapping[str, str]],
        dropped_taints: Sequence[Mapping[str, str]],
    ) -> None:
        """Change some labels and taints of the Node, see EmulatedCluster.amend_node."""
        if self.uid is not None:
            self._cluster.amend_node(
                self._name, uid=self.uid, labels=labels, taints=taints, dropped_taints=dropped_taints
            )

    def abandon(self) -> None:
        """The kubelet keeps the Node no longer; it stands until `unready` and `remove` look at it."""
        if self.uid is not None:
            self._left.append((self._name, self.uid))
        self.uid = None

    def delete(self) -> None:
        """Somebody deletes the Node that the kubelet keeps."""
        if self.uid is not None:
            self._cluster.remove_node(self._name, uid=self.uid)
        self.uid = None

    def unready(self, *, left: bool) -> None:
        """The node controller has heard nothing for too long: of the Node, or of those that were left behind."""
        for name, uid in self._left if left else self._kept():
            self._cluster.update_node(name, ready=False, uid=uid)

    def remove_left(self) -> None:
        """Take out the Nodes that were left behind."""
        for name, uid in self._left:
            self._cluster.remove_node(name, uid=uid)
        self._left.clear()

    def remove(self) -> None:
        """Take out all Nodes of the machine: its cloud says that it is no more."""
        self.abandon()
        self.remove_left()

    def _kept(self) -> list[tuple[str, str]]:
        return [(self._name, self.uid)] if self.uid is not None else []


def named(machine: Machine, node_name: str) -> Machine:
    """The machine under another Node name, in the label of it, too."""
    labels = dict(machine.labels)
    if HOSTNAME_LABEL in labels:
        labels[HOSTNAME_LABEL] = node_name
    return replace(machine, node_name=node_name, labels=labels)
