# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Heartbeats: who is calling, and when each bcd was last heard, written in batches.

Limits: whether a silent bcd counts as disconnected is judged in model/liveness.py, what follows from it in matching.py.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta

from ..model.clock import Clock
from ..model.ids import NodeId, PoolId
from ..model.liveness import HEARTBEAT_SECONDS, MARK_LASTS, Listening, is_connected, listened
from ..model.records import NodeIdentity, PoolNode
from ..model.secret import Secret
from ..store import Store, Tx, gateways, pool_nodes, work

FLUSH_SECONDS = 2
"""How often the gateway is to flush: well within LISTENING_GAP_SECONDS, and seldom enough to cost nothing."""


def authenticate(tx: Tx, identities: Collection[Secret]) -> dict[Secret, NodeIdentity]:
    """The nodes whose bcds show these identities, out of one read. One that is no node's, or no longer, is left out."""
    found = pool_nodes.identities(tx, (identity.sha256() for identity in identities))
    nodes = ((identity, found.get(identity.sha256())) for identity in identities)
    return {identity: node for identity, node in nodes if node is not None and identity.matches(node.identity_hash)}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Heard:
    pool_id: PoolId
    at: datetime


class Heartbeats:
    """What the gateway heard since the last flush. Safe to use from many threads."""

    def __init__(self, *, clock: Clock) -> None:
        """Begin with nothing heard.

        Arguments:
            clock: measures how old a heartbeat is when it is flushed; the times that are stored are the store's own.
        """
        self._clock = clock
        self._number = gateways.new_number()
        self._lock = threading.Lock()
        self._unwritten: dict[NodeId, _Heard] = {}
        self._heard: dict[NodeId, _Heard] = {}
        self._returned: set[PoolId] = set()
        self._began: datetime | None = None
        self._looked_for: datetime | None = None

    def beat(self, node: NodeIdentity | PoolNode) -> None:
        """A heartbeat of this node came in just now. A node that had been away makes its pool due at the next flush."""
        heard = _Heard(pool_id=node.pool_id, at=self._clock.now())
        with self._lock:
            before = self._heard.get(node.id)
            if not is_connected(before.at if before else node.last_seen_at, now=heard.at):
                self._returned.add(node.pool_id)
            self._heard[node.id] = self._unwritten[node.id] = heard

    def flush(self, store: Store) -> None:
        """Write what was heard, leave the mark that somebody listens, and make due the pools with news of a node.

        A node that this gateway never heard is no news to it when it stays silent. So once the silence since it began
        to listen says something, it looks, once, who of all matched nodes was silent all that time.

        To be called every FLUSH_SECONDS, also when nothing was heard. One statement writes all heartbeats of one
        interval; older ones are there only after flushes that failed.

        Raises:
            StoreUnavailable: nothing was written; what was heard is kept for the next flush.
        """
        now = self._clock.now()
        with self._lock:
            unwritten, self._unwritten = self._unwritten, {}
            returned, self._returned = self._returned, set()
            lost = {node_id: heard for node_id, heard in self._heard.items() if not is_connected(heard.at, now=now)}
        try:
            with store.write() as tx:
                mark = listened(gateways.listening(tx), now=tx.now)
                if self._began is None:
                    gateways.forget(tx, tx.now - MARK_LASTS)
                self._began = self._began or tx.now
                since = max(self._began, mark.since)
                is_time = self._looked_for != since and not is_connected(since, now=tx.now)
                silent = pool_nodes.pools_of_silent(tx, since) if is_time else frozenset()
                work.make_all_due(tx, returned | {heard.pool_id for heard in lost.values()} | silent, tx.now)
                batches = _by_age(unwritten, now=now)
                if len(batches) > 1:
                    pool_nodes.lock_nodes(tx, unwritten)
                for age, node_ids in batches:
                    pool_nodes.seen(tx, node_ids, tx.now - age)
                gateways.runs(tx, self._number, Listening(since=self._began, heard_at=tx.now))
                gateways.heard(tx, mark)
        except BaseException:
            with self._lock:
                self._unwritten = {**unwritten, **self._unwritten}
                self._returned |= returned
            raise
        if is_time:
            self._looked_for = since
        with self._lock:
            for node_id, heard in lost.items():
                if self._heard.get(node_id) == heard:
                    del self._heard[node_id]

    def leave(self, store: Store) -> None:
        """Say that this gateway does not listen any more: nothing is flushed after that.

        Raises:
            StoreUnavailable: nobody is told; after MARK_LASTS it is taken for dead.
        """
        with store.write() as tx:
            gateways.stopped(tx, self._number)


def _by_age(heard: dict[NodeId, _Heard], *, now: datetime) -> list[tuple[timedelta, list[NodeId]]]:
    """Heartbeats in batches of one interval, each with the age of its oldest: nobody is made younger than it is."""
    batches: defaultdict[int, list[tuple[timedelta, NodeId]]] = defaultdict(list)
    for node_id, one in heard.items():
        age = max(now - one.at, timedelta(0))
        batches[int(age.total_seconds() // HEARTBEAT_SECONDS)].append((age, node_id))
    return [
        (max(age for age, _node_id in batch), sorted(node_id for _age, node_id in batch))
        for _interval, batch in sorted(batches.items())
    ]
