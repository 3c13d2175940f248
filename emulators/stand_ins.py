# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand-ins for an emulated cloud's neighbours (neighbours.py): for tests of one cloud alone."""

from __future__ import annotations

from collections.abc import Callable

from .neighbours import Machine

_CA_PEM = "-----BEGIN CERTIFICATE-----\nbm90aGluZw==\n-----END CERTIFICATE-----\n"


class InstantMachines:
    """A machine host whose machines are ready at once.

    Attributes:
        running: the machines that were launched and not terminated, by instance id.
    """

    def __init__(self) -> None:
        """Runs nothing."""
        self.running: dict[str, Machine] = {}

    def launch(self, machine: Machine, ready: Callable[[], None]) -> None:
        """Note it and say that it is ready."""
        self.running[machine.instance_id] = machine
        ready()

    def change(self, machine: Machine) -> None:
        """Note what it is now."""
        if machine.instance_id in self.running:
            self.running[machine.instance_id] = machine

    def terminate(self, instance_id: str) -> None:
        """Forget it."""
        self.running.pop(instance_id, None)


class UnreachableApis:
    """Gives every cluster an endpoint at which nothing listens.

    Attributes:
        running: the clusters whose APIs were started and not stopped.
    """

    def __init__(self) -> None:
        """Runs nothing."""
        self.running: set[str] = set()

    def start(self, cluster: str) -> tuple[str, str]:
        """Note it; the discard port answers nobody."""
        self.running.add(cluster)
        return "https://127.0.0.1:9", _CA_PEM

    def stop(self, cluster: str) -> None:
        """Forget it."""
        self.running.discard(cluster)
