# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the child process does: one phase of a life, with the product's own operations, on the parent's clock.

It asks the parent to let time pass, and tells it of each commit: the parent may kill it there.
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from multiprocessing.connection import Connection
from threading import Lock
from types import FrameType
from typing import Any, Final

from ansible_collections.better_compute.fleet.plugins.module_utils._core.documents.load import parse_document
from ansible_collections.better_compute.fleet.plugins.module_utils._core.documents.settings import load_settings
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.ids import PLATFORM_TENANT
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations import (
    fleet,
    passes,
    reservations,
    substrates,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.session import Session
from ansible_collections.better_compute.fleet.plugins.module_utils._core.store import (
    Store,
    join_tokens,
    open_store,
    work,
)

from .drivers import drivers_opened_once

POOL: Final = "gpu-fleet"
BOOKED_GPUS: Final = 2
_NAME: Final = "first-job"

_STEP_SECONDS: Final = 10.0
"""How much time passes at once while the child waits: a join that makes its pool due is not overlooked for longer."""

_PATIENCE: Final = timedelta(hours=2)


@dataclass(frozen=True, slots=True, kw_only=True)
class Orders:
    """What the child is started with.

    Attributes:
        phase: one of PHASES.
        document: the FleetConfig document, for the phases that apply one.
        environment: the settings and the AWS account.
    """

    phase: str
    document: Mapping[str, Any]
    environment: Mapping[str, str]
    database_url: str
    now: datetime


class ParentsClock:
    """The clock of the process that started this one: it stands still between two messages."""

    def __init__(self, connection: Connection, now: datetime) -> None:
        """Stand at `now`."""
        self._connection = connection
        self._now = now
        self._lock = Lock()

    def now(self) -> datetime:
        """The present."""
        return self._now

    def sleep(self, seconds: float) -> None:
        """Let the parent move time."""
        with self._lock:
            self._connection.send(("sleep", seconds))
            self._now = self._connection.recv()

    def tell_commit(self, moment: str) -> None:
        """Tell the parent of a commit, and wait until it says go on: it may end this process here."""
        name = committing(sys._getframe(1))
        with self._lock:
            self._connection.send(("commit", moment, name))
            self._connection.recv()


def committing(frame: FrameType | None) -> str:
    """The function of ours that commits, outside of the store itself."""
    while frame is not None:
        module: str = frame.f_globals.get("__name__", "")
        if "_core." in module and "_core.store" not in module:
            return f"{module.rpartition('_core.')[2]}.{frame.f_code.co_name}"
        frame = frame.f_back
    return "elsewhere"


def run(orders: Orders, connection: Connection) -> None:
    """The child's life: do the phase, say how it ended."""
    os.environ.update(orders.environment)
    clock = ParentsClock(connection, orders.now)
    store = open_store(orders.database_url, clock=clock)
    store.on_commit.append(clock.tell_commit)
    session = Session(
        store=store,
        clock=clock,
        settings=load_settings(environ=orders.environment),
        caller="life",
        holder=f"{orders.phase}/{os.getpid()}",
        open_driver=drivers_opened_once(clock),
        sleep=partial(_wait_for_work, store, clock),
    )
    try:
        connection.send(("done", PHASES[orders.phase](session, orders)))
    except Exception:  # noqa: BLE001 -- whatever it is, the test tells it
        connection.send(("failed", traceback.format_exc()))


def _wait_for_work(store: Store, clock: ParentsClock, _seconds: float) -> None:
    """Instead of looking every half second: until something is due, or a good while."""
    with store.read() as tx:
        due, now = work.next_due(tx), tx.now
    left = (due - now).total_seconds() if due is not None else _STEP_SECONDS
    clock.sleep(min(_STEP_SECONDS, max(0.5, left)))


def _apply(session: Session, orders: Orders, *, prune: bool = False) -> dict[str, Any]:
    """As the module bc_fleet does it."""
    config = parse_document(dict(orders.document))
    planned = fleet.plan_fleet(session, config, prune=prune, refresh=True)
    pools = fleet.apply_fleet(session, planned)
    views = passes.run_until_settled(session, pools, timeout=_PATIENCE)
    return {
        "changed": planned.plan.changed,
        "substrates": [view.to_data() for view in views],
        "settled": all(view.settled for view in views),
    }


def _join(session: Session, _orders: Orders) -> dict[str, Any]:
    """As the daemon does it: run what is due, until every Node has joined and the token is gone."""
    until = session.clock.now() + _PATIENCE
    while True:
        for lease in passes.claim_due(session, limit=1):
            passes.run_leased(session, lease)
        view = substrates.get_substrate(session, pool=POOL)
        with session.store.read() as tx:
            tokens = join_tokens.live_tokens(tx, view.record.pool_id)
            resting = work.lease_of(tx, view.record.pool_id) is None
        if view.ready and view.record.nodes_listed == view.record.nodes_joined > 0 and not tokens and resting:
            return view.to_data()
        if session.clock.now() > until:
            raise TimeoutError(f"not every Node joined: {view.to_data()}")
        session.sleep(0.5)


def _change(session: Session, orders: Orders) -> dict[str, Any]:
    """As the module records it and the daemon brings it to its end: a module would stop at the first refusal."""
    applied = _apply(session, orders)
    return {**applied, **_join(session, orders)}


def _book(session: Session, _orders: Orders) -> dict[str, Any]:
    named = reservations.find(session, pool=POOL, tenant_id=PLATFORM_TENANT, name=_NAME)
    made = reservations.book(session, named, tenant_id=PLATFORM_TENANT, gpus=BOOKED_GPUS, spot=False)
    return reservations.to_data(made)


def _release(session: Session, _orders: Orders) -> dict[str, Any]:
    current = reservations.find(session, pool=POOL, tenant_id=PLATFORM_TENANT, name=_NAME).current
    return {} if current is None else reservations.to_data(reservations.give_back(session, current))


PHASES: Final[Mapping[str, Callable[[Session, Orders], dict[str, Any]]]] = {
    "apply": _apply,
    "join": _join,
    "book": _book,
    "release": _release,
    "change": _change,
    "again": _apply,
    "prune": partial(_apply, prune=True),
}
"""The quickstart's life, in its order, with a change on the way."""
