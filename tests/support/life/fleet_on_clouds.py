# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A fleet of this process on any of the three emulated clouds, and what is looked at the same way on each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ansible_collections.better_compute.fleet.emulators.engine import Entry

from .clouds import TOKEN_VARIABLE, Cloud, Place
from .fleet_at_hand import Fleet
from .world import Scene


def environment_of(stage: Scene) -> dict[str, str]:
    """The environment in which drivers find their credentials. It starts the clouds."""
    aws = {name: value for name, value in stage.environment.items() if name.startswith("AWS_")}
    return {**aws, TOKEN_VARIABLE: stage.world.digitalocean.token}


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetOnClouds:
    """A fleet, and documents that name the clouds it stands on."""

    fleet: Fleet
    place: Place

    def document(self, cloud: Cloud, *flavors: Mapping[str, Any], **create: Any) -> dict[str, Any]:
        """A document with one pool on one provider; more fields of `cluster.create`."""
        return self.place.document({cloud: flavors}, create=create)

    def apply(self, cloud: Cloud, *flavors: Mapping[str, Any], **create: Any) -> None:
        """Declare it. Nothing is done yet; what is no longer declared goes."""
        self.fleet.apply(self.document(cloud, *flavors, **create), prune=True)

    def join_all(self, cloud: Cloud, *flavors: Mapping[str, Any], nodes: int, **create: Any) -> None:
        """Declare it, and work until so many nodes have joined and the pool is at rest."""
        self.apply(cloud, *flavors, **create)
        self.live_until_joined(nodes)

    def live_until_joined(self, nodes: int, *, minutes: float = 20) -> None:
        """Work until so many nodes have joined, and no other is left, and the pool is at rest."""
        fleet = self.fleet

        def there() -> bool:
            return fleet.at_rest() and fleet.view().record.nodes_joined == len(fleet.nodes()) == nodes

        fleet.live(until=there, minutes=minutes)
        record = fleet.view().record
        found = (record.state, record.message, record.nodes_joined, len(fleet.nodes()))
        assert found == ("ready", "", nodes, nodes)

    def prune(self) -> None:
        """Take the pool out of the document, and work until it is gone."""
        self.fleet.apply(self.place.document({}), prune=True)
        self.fleet.live(minutes=15)

    def asked(self, cloud: Cloud, *, after: int = 0, name: str = "*", mutating: bool | None = None) -> Sequence[Entry]:
        """What the provider was asked."""
        return self.fleet.scene.engine.log.entries(after=after, cloud=cloud.emulated, name=name, mutating=mutating)

    def carried_out(self, cloud: Cloud, *, after: int = 0) -> Counter[str]:
        """How often the provider carried out each change."""
        entries = self.asked(cloud, after=after, mutating=True)
        return Counter(entry.call.name for entry in entries if entry.status < 400)

    def machines(self) -> int:
        """The machines that run at all providers."""
        return self.fleet.scene.engine.inventory.machines()

    def left(self) -> list[str]:
        """What there is at providers and in clusters."""
        return [f"{item.cloud} {item.kind} {item.id}" for item in self.fleet.scene.engine.inventory.items()]
