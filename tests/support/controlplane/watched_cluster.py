# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The real cluster as a whole emulated world has it: its machines hear of changes, the inventory tells what stands."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from threading import Lock
from typing import Final, Literal

from ansible_collections.better_compute.fleet.emulators.engine import Answer, Engine
from ansible_collections.better_compute.fleet.emulators.kubernetes import Change
from ansible_collections.better_compute.fleet.emulators.kubernetes.cluster import CLOUD
from ansible_collections.better_compute.fleet.emulators.kubernetes.requests import Request

from .behind_engine import ClusterBehindEngine
from .cluster import RealCluster

_DELETED_WITHIN_SECONDS: Final = 5.0
"""What a deletion that others must finish takes on the engine's clock, as in an emulated cluster. It waits for the real
controllers there: time that is moved by hand does not overtake them."""

Listener = Callable[[Change], None]

Versions = Mapping[tuple[str, str, str], str]
"""The resource version of each object by kind, namespace and name."""


class WatchedCluster(ClusterBehindEngine):
    """Is looked at after each change that a request makes, and once more when what it deletes is gone."""

    def __init__(self, *, name: str, engine: Engine, real: RealCluster) -> None:
        """Arguments: real: empty."""
        super().__init__(name=name, engine=engine, real=real)
        self._listeners: list[Listener] = []
        self._looking = Lock()
        self._seen: Versions = {}
        self._closed = False

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Have every change told, from whichever thread saw it. Returns the way to stop."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def close(self) -> None:
        """The cluster is no more: what stood in it leaves the inventory."""
        with self._looking:
            self._closed = True
            for kind, namespace, name in self._seen:
                self._engine.inventory.remove(CLOUD, kind, self._inventory_id(namespace, name))
        super().close()

    def effect(self, request: Request) -> Answer:
        """What the real API makes of a request, and what that leads to."""
        answer = super().effect(request)
        if request.method != "GET" and answer.status < 400:
            self._look()
            if request.method == "DELETE":
                self._engine.clock.call_later(_DELETED_WITHIN_SECONDS, self._settle)
        return answer

    def _settle(self) -> None:
        if not self._closed:
            self._real.settle()
            self._look()

    def _look(self) -> None:
        """See what stands now; bring the inventory up to date, and tell what has changed since the last time."""
        with self._looking:
            if self._closed:
                return
            before, self._seen = self._seen, self._real.everything()
            for kind, namespace, name in before.keys() - self._seen.keys():
                self._engine.inventory.remove(CLOUD, kind, self._inventory_id(namespace, name))
            for kind, namespace, name in self._seen.keys() - before.keys():
                self._engine.inventory.add(CLOUD, kind, self._inventory_id(namespace, name), cluster=self.name)
            keys = sorted(before.keys() | self._seen.keys())
            changes = [_change(key, before, self._seen) for key in keys if before.get(key) != self._seen.get(key)]
        for change in changes:
            for listener in tuple(self._listeners):
                listener(change)

    def _inventory_id(self, namespace: str, name: str) -> str:
        return "/".join(part for part in (self.name, namespace, name) if part)


def _change(key: tuple[str, str, str], before: Versions, now: Versions) -> Change:
    kind, namespace, name = key
    action: Literal["added", "modified", "deleted"] = "modified"
    if key not in before:
        action = "added"
    elif key not in now:
        action = "deleted"
    return Change(kind=kind, namespace=namespace, name=name, action=action)
