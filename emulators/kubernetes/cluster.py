# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One emulated cluster: its API as requests see it, and as its own machines see it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from threading import RLock

from ..engine import Answer, Call, Clock, Engine, InjectedError
from . import kinds
from .access import AccessControl, Authenticator
from .kinds import DAEMON_SET, NODE, Route
from .node_pages import NodePages
from .objects import Change, Object, ObjectStore
from .requests import Request
from .statuses import ApiRefusal, failure, not_emulated, rendered
from .verbs import Verbs

CLOUD = "kubernetes"
"""How calls, faults and the inventory name this emulator."""

_POD_TERMINATION_SECONDS = 5.0
"""How long a foreground deletion and a namespace take: pods end, and the controllers look again."""

Listener = Callable[[Change], None]


class EmulatedCluster:
    """A cluster. Thread-safe.

    Attributes:
        name: the cluster's name at its cloud.
    """

    def __init__(self, *, name: str, engine: Engine, authenticator: Authenticator) -> None:
        """Arguments: authenticator: the cloud's: who a bearer token is on this cluster."""
        self.name = name
        self._engine = engine
        self._lock = RLock()
        self._listeners: list[Listener] = []
        self._closed = False
        self._store = ObjectStore(engine.clock)
        self._access = AccessControl(cluster=name, authenticator=authenticator, store=self._store, clock=engine.clock)
        self._verbs = Verbs(
            store=self._store,
            access=self._access,
            pages=NodePages(store=self._store, clock=engine.clock),
            when_pods_are_gone=self._finish_deletion_later,
        )
        self._seeded = {_inventory_id(name, change) for change in self._store.changes}
        self._store.changes.clear()

    # What requests see.

    @property
    def clock(self) -> Clock:
        """The cluster's clock."""
        return self._engine.clock

    def answer(self, request: Request) -> Answer:
        """Answer one request.

        Raises:
            ReplyLost: scripted: drop the connection.
        """
        route = kinds.route(request.method, request.path)
        call = Call(
            cloud=CLOUD,
            name=route.call if route else f"{request.method} unknown",
            target=self._target(route, request),
            mutating=route is not None and route.mutating,
        )
        try:
            return self._engine.handle(call, lambda: self._effect(route, request))
        except InjectedError as error:
            return rendered(error.status, failure(error.status, error.code, error.message))

    # What the cluster's machines see.

    def put_node(
        self,
        name: str,
        *,
        labels: Mapping[str, str],
        uid: str | None = None,
        provider_id: str = "",
        taints: Sequence[Mapping[str, str]] = (),
        ready: bool = True,
    ) -> str:
        """Register a Node, in place of any other of its name; returns its uid (a fresh one when none is given)."""
        with self._lock:
            standing = self._store.get(NODE, None, name)
            if standing is not None:
                self._store.remove(standing)
            node = self._store.add(
                {
                    "apiVersion": "v1",
                    "kind": "Node",
                    "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name, **labels}},
                    "spec": {"providerID": provider_id, "taints": [dict(taint) for taint in taints]},
                    "status": {"conditions": [_readiness(ready=ready)]},
                },
                uid=uid,
            )
            changes = self._drain()
        self._tell(changes)
        return str(node["metadata"]["uid"])

    def update_node(
        self, name: str, *, labels: Mapping[str, str] | None = None, ready: bool | None = None, uid: str | None = None
    ) -> bool:
        """Change a Node's labels or readiness; with a uid only if it is that one. Returns whether it stands."""
        with self._lock:
            node = self._store.get(NODE, None, name)
            if node is None or uid not in (None, node["metadata"]["uid"]):
                return False
            if labels is not None:
                node["metadata"]["labels"] = dict(labels)
            if ready is not None:
                node["status"]["conditions"] = [_readiness(ready=ready)]
            self._store.replace(node)
            changes = self._drain()
        self._tell(changes)
        return True

    def amend_node(
        self,
        name: str,
        *,
        uid: str,
        labels: Mapping[str, str | None],
        taints: Sequence[Mapping[str, str]],
        dropped_taints: Sequence[Mapping[str, str]],
    ) -> None:
        """Change some labels and taints of a Node and leave those that others gave it; another Node is left alone.

        Arguments:
            labels: their values; None takes one away.
            taints: that are there afterwards, one for each key and effect.
            dropped_taints: that are not.
        """
        with self._lock:
            node = self._store.get(NODE, None, name)
            if node is not None and node["metadata"]["uid"] == uid:
                merged = {**node["metadata"]["labels"], **labels}
                node["metadata"]["labels"] = {key: value for key, value in merged.items() if value is not None}
                ours = {(taint["key"], taint["effect"]) for taint in (*taints, *dropped_taints)}
                others = [t for t in node["spec"].get("taints", []) if (t["key"], t["effect"]) not in ours]
                node["spec"]["taints"] = [*others, *(dict(taint) for taint in taints)]
                self._store.replace(node)
            changes = self._drain()
        self._tell(changes)

    def remove_node(self, name: str, *, uid: str | None = None) -> None:
        """Take a Node out; with a uid only if it is that one. One that is not there is no error."""
        with self._lock:
            node = self._store.get(NODE, None, name)
            if node is not None and uid in (None, node["metadata"]["uid"]):
                self._store.remove(node)
            changes = self._drain()
        self._tell(changes)

    def nodes(self) -> tuple[Object, ...]:
        """All Nodes, ordered by name."""
        with self._lock:
            return tuple(self._store.all_of(NODE))

    def daemon_sets(self) -> tuple[Object, ...]:
        """The DaemonSets that are to have pods; those that are being deleted are not."""
        with self._lock:
            standing = self._store.all_of(DAEMON_SET)
        return tuple(obj for obj in standing if not obj["metadata"].get("deletionTimestamp"))

    def read(self, kind: str, name: str, namespace: str | None = None) -> Object | None:
        """One object by its kind's name (`Secret`, `ConfigMap`, …), None when there is none."""
        known = next(one for one in kinds.KINDS if one.name == kind)
        with self._lock:
            return self._store.get(known, namespace, name)

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Have every change told, from whichever thread made it and without any lock held. Returns the way to stop."""
        with self._lock:
            self._listeners.append(listener)

        def unsubscribe() -> None:
            with self._lock:
                if listener in self._listeners:
                    self._listeners.remove(listener)

        return unsubscribe

    def close(self) -> None:
        """The cluster is no more: nothing is told any longer, and what stood in it leaves the inventory."""
        with self._lock:
            self._closed = True
            self._listeners.clear()
        for item in self._engine.inventory.items(cloud=CLOUD):
            if item.detail.get("cluster") == self.name:
                self._engine.inventory.remove(CLOUD, item.kind, item.id)

    def _effect(self, route: Route | None, request: Request) -> Answer:
        with self._lock:
            try:
                user = self._access.authenticate(request.headers.get("authorization"))
                if route is None:
                    if not user.admin:
                        raise ApiRefusal(403, f'User "{user.name}" cannot {request.method} path "{request.path}"')
                    raise not_emulated(f"{request.method} {request.path}")
                self._access.authorize(user, route)
                answer = rendered(*self._verbs.carry_out(route, request))
            except ApiRefusal as refusal:
                answer = refusal.to_answer()
            changes = self._drain()
        self._tell(changes)
        return answer

    def _target(self, route: Route | None, request: Request) -> str:
        if route is None:
            return f"{self.name}{request.path}"
        metadata = (request.peek() or {}).get("metadata")
        sent = metadata.get("name") if isinstance(metadata, dict) else None
        return "/".join(part for part in (self.name, route.namespace, route.name or sent) if isinstance(part, str))

    def _finish_deletion_later(self, obj: Object) -> None:
        def finish() -> None:
            with self._lock:
                if self._closed:
                    return
                self._verbs.finish_deletion(obj)
                changes = self._drain()
            self._tell(changes)

        self._engine.clock.call_later(_POD_TERMINATION_SECONDS, finish)

    def _drain(self) -> list[Change]:
        """The changes since the last time; brings the inventory up to date. With the lock held."""
        changes = list(self._store.changes)
        self._store.changes.clear()
        for change in changes:
            item = _inventory_id(self.name, change)
            # Nodes are their machines', which the cloud lists; what Kubernetes makes by itself is nobody's leak.
            if change.kind == NODE.name or item in self._seeded or change.name in ("default", "kube-root-ca.crt"):
                continue
            if change.action == "deleted":
                self._engine.inventory.remove(CLOUD, change.kind, item)
            else:
                self._engine.inventory.add(CLOUD, change.kind, item, cluster=self.name)
        return changes

    def _tell(self, changes: list[Change]) -> None:
        with self._lock:
            listeners = list(self._listeners)
        for change in changes:
            for listener in listeners:
                listener(change)


def _inventory_id(cluster: str, change: Change) -> str:
    return "/".join(part for part in (cluster, change.namespace, change.name) if part)


def _readiness(*, ready: bool) -> dict[str, str]:
    return {"type": "Ready", "status": "True" if ready else "Unknown"}
