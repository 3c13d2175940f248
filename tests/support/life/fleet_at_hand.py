# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The product in the test's own process, on a life's scene: for tests that look at one pass or one hour of a fleet."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

from ansible_collections.better_compute.fleet.plugins.module_utils._core.documents.load import parse_document
from ansible_collections.better_compute.fleet.plugins.module_utils._core.documents.settings import load_settings
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.ids import PLATFORM_TENANT, PoolId
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.records import (
    ClusterRecord,
    Event,
    NodePoolRecord,
    PoolNode,
    Reservation,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations import (
    fleet,
    passes,
    reservations,
    substrates,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.session import Session
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.substrates import SubstrateView
from ansible_collections.better_compute.fleet.plugins.module_utils._core.planning.plan import Plan
from ansible_collections.better_compute.fleet.plugins.module_utils._core.store import (
    clusters,
    events,
    pool_nodes,
    work,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.store import reservations as reservation_rows
from ansible_collections.better_compute.fleet.plugins.module_utils._core.store.tables import tables

from .child import POOL
from .drivers import drivers_opened_once
from .world import Scene

_STEP_SECONDS: Final = 10.0
_PATIENCE: Final = timedelta(hours=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fleet:
    """A session on a scene, and short ways to ask and to look. Whoever makes one sets the scene's environment.

    Attributes:
        pool: the declared pool that is looked at.
    """

    scene: Scene
    session: Session
    pool: str = POOL

    # What a person or the daemon does.

    def apply(self, document: Mapping[str, Any], *, prune: bool = False) -> tuple[PoolId, ...]:
        """Record a document; no pass is run. Returns the pools that want passes."""
        planned = fleet.plan_fleet(self.session, parse_document(dict(document)), prune=prune, refresh=False)
        return fleet.apply_fleet(self.session, planned)

    def plan(self, document: Mapping[str, Any], *, prune: bool = False) -> Plan:
        """What a document would change, the providers looked at."""
        return fleet.plan_fleet(self.session, parse_document(dict(document)), prune=prune, refresh=True).plan

    def settle(self, pools: tuple[PoolId, ...]) -> tuple[SubstrateView, ...]:
        """Run passes as a module does."""
        return passes.run_until_settled(self.session, pools, timeout=_PATIENCE)

    def live(self, *, until: Callable[[], bool] = lambda: False, **interval: float) -> None:
        """Run what falls due, as the daemon does, for so long at most (`minutes=20`), or until something is true."""
        end = self.scene.clock.now() + timedelta(**interval)
        while self.scene.clock.now() < end and not until():
            if self.run_due() and until():
                return
            with self.session.store.read() as tx:
                due, now = work.next_due(tx), tx.now
            left = (due - now).total_seconds() if due is not None else _STEP_SECONDS
            # Machines may join and fall silent on the way, which makes their pool due earlier.
            step = _STEP_SECONDS if self.scene.engine.inventory.machines() else left
            self.scene.clock.advance(min(max(0.5, left), step))

    def run_due(self) -> bool:
        """The passes that are due now; whether there were any."""
        leases = passes.claim_due(self.session, limit=10)
        for lease in leases:
            passes.run_leased(self.session, lease)
        return bool(leases)

    def one_pass(self) -> SubstrateView:
        """One pass of the pool, now; the substrate after it."""
        passes.run_once(self.session, [self.view().record.pool_id])
        return self.view()

    def join_all(self, document: Mapping[str, Any]) -> SubstrateView:
        """From a document to a fleet at rest: every Node has joined, and the next pass has nothing to do."""
        self.apply(document)
        self.live(until=self.at_rest, minutes=30)
        assert self.at_rest(), self.view()
        return self.view()

    def book(self, *, name: str, gpus: int, spot: bool = False) -> Reservation:
        """A reservation of the platform's tenant."""
        named = reservations.find(self.session, pool=self.pool, tenant_id=PLATFORM_TENANT, name=name)
        return reservations.book(self.session, named, tenant_id=PLATFORM_TENANT, gpus=gpus, spot=spot)

    def release(self, made: Reservation) -> None:
        """Give a reservation back."""
        reservations.give_back(self.session, made)

    # What is.

    def at_rest(self) -> bool:
        """Whether every Node has joined, and the pool is left alone for minutes."""
        view = self.view()
        with self.session.store.read() as tx:
            due, now = work.due_of(tx, view.record.pool_id), tx.now
        resting = due is not None and due - now > timedelta(minutes=1)
        return view.ready and 0 < view.record.nodes_listed == view.record.nodes_joined and resting

    def has_nothing_to_do(self) -> bool:
        """Whether no pass is wanted any more, of any pool."""
        with self.session.store.read() as tx:
            return work.next_due(tx) is None

    def view(self) -> SubstrateView:
        """The substrate of the declared pool."""
        return substrates.get_substrate(self.session, pool=self.pool)

    def cluster(self) -> ClusterRecord:
        """The declared pool's cluster."""
        with self.session.store.read() as tx:
            found = clusters.cluster(tx, self.view().record.cluster_id)
        assert found is not None
        return found

    def node_pools(self) -> dict[str, NodePoolRecord]:
        """The cluster's node pools by name."""
        with self.session.store.read() as tx:
            return {pool.name: pool for pool in clusters.node_pools(tx, self.view().record.cluster_id)}

    def nodes(self) -> dict[str, PoolNode]:
        """The pool's nodes that are not retired, by Node name."""
        with self.session.store.read() as tx:
            return {node.node_name or node.hostname: node for node in pool_nodes.pool_nodes(tx, self.pool_id)}

    @property
    def pool_id(self) -> PoolId:
        """The declared pool's id."""
        return self.view().record.pool_id

    def reservation(self, made: Reservation) -> Reservation:
        """A reservation as it stands now."""
        with self.session.store.read() as tx:
            found = reservation_rows.reservation(tx, made.id)
        assert found is not None
        return found

    def events(self, type: str) -> tuple[Event, ...]:  # noqa: A002 -- the field's own name
        """What was told of one type."""
        with self.session.store.read() as tx:
            return tuple(event for event in events.events(tx) if event.type == type)

    def rows(self) -> dict[str, list[tuple[Any, ...]]]:
        """Every row of the database, but what only says who works and who is heard."""
        table = tables()
        skipped = {table.work.name, table.gateways.name}
        with self.session.store.read() as tx:
            return {
                one.name: sorted(
                    (
                        tuple(value for name, value in row._mapping.items() if name != "last_seen_at")
                        for row in tx.rows(one.select())
                    ),
                    key=repr,
                )
                for one in table.metadata.sorted_tables
                if one.name not in skipped
            }

    def instance_of(self, node_name: str) -> str:
        """The instance id of the machine whose Node has this name."""
        return next(
            machine.instance_id for machine in self.scene.world.machines.running() if machine.node_name == node_name
        )


def fleet_at_hand(scene: Scene, **environment: str) -> Fleet:
    """The product in this process.

    Arguments:
        environment: settings that differ from the scene's; an empty one is taken out.
    """
    clock = scene.clock
    settings = {name: value for name, value in {**scene.environment, **environment}.items() if value}

    def sleep(_seconds: float) -> None:
        with scene.store.read() as tx:
            due, now = work.next_due(tx), tx.now
        left = (due - now).total_seconds() if due is not None else _STEP_SECONDS
        clock.advance(min(max(0.5, left), _STEP_SECONDS))

    session = Session(
        store=scene.store,
        clock=scene.product_clock,
        settings=load_settings(environ=settings),
        caller="test",
        holder="test",
        open_driver=drivers_opened_once(scene.product_clock),
        sleep=sleep,
    )
    return Fleet(scene=scene, session=session)
