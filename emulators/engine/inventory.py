# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What exists at the emulated providers right now: the proof that nothing leaked.

Holds what costs money or stands in the way (clusters, node groups, access entries, machines), not what the emulator was
seeded with (subnets, roles).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from threading import Lock
from types import MappingProxyType

MACHINE = "machine"
"""The kind under which every cloud lists its machines, so that they can be counted over all clouds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One thing that exists.

    Attributes:
        cloud: where: `aws`, `kubernetes`, …
        kind: `cluster`, `node-group`, `access-entry`, `machine`, …
        id: unique within cloud and kind.
        detail: a few words for whoever looks at a leak.
    """

    cloud: str
    kind: str
    id: str
    detail: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    def to_data(self) -> dict[str, object]:
        """The item as plain data, for the control API."""
        return {"cloud": self.cloud, "kind": self.kind, "id": self.id, "detail": dict(self.detail)}


class Inventory:
    """The list of what exists. Thread-safe.

    Adding again replaces the detail; removing what is not there does nothing.
    """

    def __init__(self) -> None:
        """An empty inventory."""
        self._items: dict[tuple[str, str, str], Item] = {}
        self._lock = Lock()

    def add(self, cloud: str, kind: str, item_id: str, /, **detail: str) -> None:
        """Note that something exists."""
        item = Item(cloud=cloud, kind=kind, id=item_id, detail=MappingProxyType(dict(detail)))
        with self._lock:
            self._items[cloud, kind, item_id] = item

    def remove(self, cloud: str, kind: str, item_id: str, /) -> None:
        """Note that it is gone."""
        with self._lock:
            self._items.pop((cloud, kind, item_id), None)

    def items(self, *, cloud: str | None = None, kind: str | None = None) -> tuple[Item, ...]:
        """What exists, ordered by cloud, kind and id; all of it, or one cloud's, or one kind's."""
        with self._lock:
            items = [self._items[key] for key in sorted(self._items)]
        return tuple(i for i in items if cloud in (None, i.cloud) and kind in (None, i.kind))

    def machines(self) -> int:
        """How many machines exist over all clouds."""
        return len(self.items(kind=MACHINE))
