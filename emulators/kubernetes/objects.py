# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What one cluster holds: objects by kind, namespace and name, with uids and resource versions, and who wants to know.

Everything here is called with the cluster's lock held. Changes are collected and told by the cluster once the lock
is free.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any, Literal
from uuid import uuid4

from ..engine import Clock
from .kinds import Kind

Object = dict[str, Any]
Key = tuple[str, str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """Something that changed in the cluster.

    Attributes:
        kind: `DaemonSet`, `Secret`, `ConfigMap`, `Node`, …
        namespace: empty for kinds without one.
    """

    kind: str
    namespace: str
    name: str
    action: Literal["added", "modified", "deleted"]


class ObjectStore:
    """The objects. Hands out copies, so that nobody changes what stands."""

    def __init__(self, clock: Clock) -> None:
        """Arguments: clock: for creation and deletion times."""
        self._clock = clock
        self._objects: dict[Key, Object] = {}
        self._version = 0
        self.changes: list[Change] = []

    @property
    def version(self) -> str:
        """The resource version of the last change."""
        return str(self._version)

    def time(self) -> str:
        """The present as metadata writes it."""
        return self._clock.now().strftime("%Y-%m-%dT%H:%M:%SZ")

    def get(self, kind: Kind, namespace: str | None, name: str) -> Object | None:
        """A copy of the object, None when there is none."""
        standing = self._objects.get((kind.name, namespace or "", name))
        return None if standing is None else copy.deepcopy(standing)

    def all_of(self, kind: Kind, namespace: str | None = None) -> list[Object]:
        """Copies of all objects of a kind, or of those in one namespace, ordered by namespace and name."""
        return [
            copy.deepcopy(self._objects[key])
            for key in sorted(self._objects)
            if key[0] == kind.name and namespace in (None, key[1])
        ]

    def in_namespace(self, namespace: str) -> list[Object]:
        """Copies of everything in a namespace."""
        return [copy.deepcopy(obj) for key, obj in sorted(self._objects.items()) if key[1] == namespace]

    def add(self, obj: Object, *, uid: str | None = None) -> Object:
        """Store a new object, giving it uid, resource version and creation time; returns a copy of it as stored."""
        metadata = obj["metadata"] | {"uid": uid or str(uuid4()), "creationTimestamp": self.time()}
        return self._store(obj | {"metadata": metadata}, "added")

    def replace(self, obj: Object) -> Object:
        """Store the object in place of its predecessor under a new resource version."""
        return self._store(obj, "modified")

    def remove(self, obj: Object) -> None:
        """Take the object out, unless a successor has its name by now."""
        key = _key(obj)
        standing = self._objects.get(key)
        if standing is not None and standing["metadata"]["uid"] == obj["metadata"]["uid"]:
            del self._objects[key]
            self._version += 1
            self._note(obj, "deleted")

    def _store(self, obj: Object, action: Literal["added", "modified"]) -> Object:
        self._version += 1
        stored = copy.deepcopy(obj)
        stored["metadata"]["resourceVersion"] = str(self._version)
        self._objects[_key(stored)] = stored
        self._note(stored, action)
        return copy.deepcopy(stored)

    def _note(self, obj: Object, action: Literal["added", "modified", "deleted"]) -> None:
        kind, namespace, name = _key(obj)
        self.changes.append(Change(kind=kind, namespace=namespace, name=name, action=action))


def _key(obj: Object) -> Key:
    return (obj["kind"], obj["metadata"].get("namespace", ""), obj["metadata"]["name"])
