# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Machines boot, join, are cut off, vanish and come back with another UID, and lists fail, in any order.

Whatever the order: nobody is retired whose bcd was heard, tokens have exactly the uses that are needed, nothing is
refunded twice or ended under a machine that stands, and once all is well again every machine is matched.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule, run_state_machine_as_test

from ansible_collections.better_compute.fleet.plugins.module_utils._core.booking.reserve import reserve
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.liveness import CONNECTED_SECONDS
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.states import ReservationState
from ansible_collections.better_compute.fleet.plugins.module_utils._core.nodes.matching import Matching
from ansible_collections.better_compute.fleet.plugins.module_utils._core.store import Store, open_store, reservations
from ansible_collections.better_compute.fleet.plugins.module_utils._core.store.tables import tables
from ansible_collections.better_compute.fleet.tests.support.joining_machines import held
from ansible_collections.better_compute.fleet.tests.support.living_pool import LivingMachine, LivingPool
from ansible_collections.better_compute.fleet.tests.support.memory_folder import memory_folder
from ansible_collections.better_compute.fleet.tests.support.prepared_databases import copy_of
from ansible_collections.better_compute.fleet.tests.support.rows import HandClock

SILENCE = timedelta(seconds=CONNECTED_SECONDS)
NAMES = st.sampled_from(["a", "bb", "c"])
"""Odd ones report their Node's name, even ones only a hostname in upper case."""


class WatchedPool(LivingPool):
    """A pool in which each pass is looked at."""

    def __post_init__(self) -> None:
        self.booked_on: dict[str, tuple[LivingMachine | None, str | None]] = {}
        super().__post_init__()

    def one_pass(self) -> Matching:
        before = len(self.retired)
        found = super().one_pass()
        for node in self.retired[before:]:
            assert self.clock.now() - node.last_seen_at > SILENCE
            for machine in self.machines.values():
                spoke = machine.spoke_at if machine.node_id == node.id else None
                assert spoke is None or self.clock.now() - spoke > SILENCE, f"{machine.name} is talking"
        if found.known and not found.to_confirm:
            self._tokens_fit(found)
        self._bookings_fit()
        return found

    def _tokens_fit(self, found: Matching) -> None:
        live = self.tokens()
        if not found.waiting:
            assert (live, self.secret) == ((), None)
            return
        assert self.secret is not None
        assert self.secret.sha256() in {token.token_hash for token in live}
        assert {token.max_uses for token in live} == {sum(token.uses for token in live) + found.unconnected}
        assert max(token.expires_at for token in live) - self.clock.now() > timedelta(minutes=15)

    def book(self) -> None:
        """A GPU, on whatever machine has one, or on the next that has."""
        reserve(self.store, tenant_id=self.pool.tenant_id, pool_id=self.pool.id, gpus=1)
        self._bookings_fit()

    def _bookings_fit(self) -> None:
        with self.store.read() as tx:
            all_of_them = reservations.reservations(tx, self.pool.id, ended=True)
            table = tables().refunds
            refunds = tx.rows(table.select().where(table.c.reservation_id.in_([one.id for one in all_of_them])))
        ended = [one for one in all_of_them if one.state not in (ReservationState.BOUND, ReservationState.PENDING)]
        assert len(list(refunds)) == len(ended)
        assert held(self.store, self.pool) == len(all_of_them) - len(ended)
        standing = {node.id: node for node in self.nodes()}
        machines = {machine.node_id: machine for machine in self.machines.values()}
        for one in all_of_them:
            if one.state == ReservationState.BOUND:
                assert one.node_id in standing
                self.booked_on.setdefault(one.id, (machines.get(one.node_id), standing[one.node_id].node_uid))
        for one in ended:
            machine, uid = self.booked_on.pop(one.id, (None, None))
            stands = machine is not None and self.machines.get(machine.name) is machine and machine.uid == uid
            assert not stands, f"{one.id} ended though its machine stands: {one.message}"


class Lives(RuleBasedStateMachine):
    """Anything that happens to three machines."""

    def __init__(self, store: Store, clock: HandClock) -> None:
        super().__init__()
        self.pool = WatchedPool(store=store, clock=clock)

    @rule(name=NAMES)
    def boots_in_place_of_another(self, name: str) -> None:
        self.pool.boot(name)

    @rule(name=NAMES)
    def is_made_anew_around_the_same_gpus(self, name: str) -> None:
        machine = self.pool.machines.get(name)
        self.pool.boot(name, gpus=machine.gpus if machine else None)

    @rule(name=NAMES)
    def vanishes(self, name: str) -> None:
        self.pool.machines.pop(name, None)

    @rule(name=NAMES)
    def loses_its_node(self, name: str) -> None:
        if name in self.pool.machines:
            self.pool.machines[name].uid = None

    @rule(name=NAMES)
    def registers_anew(self, name: str) -> None:
        if name in self.pool.machines:
            self.pool.register_anew(self.pool.machines[name])

    @rule(name=NAMES, cut=st.booleans())
    def is_cut_off_or_mended(self, name: str, cut: bool) -> None:
        if name in self.pool.machines:
            self.pool.machines[name].cut = cut

    @rule(name=NAMES)
    def will_not_hear_the_answer_to_its_join(self, name: str) -> None:
        if name in self.pool.machines:
            self.pool.machines[name].loses_reply = True

    @rule()
    def a_list_fails(self) -> None:
        self.pool.lists.append(None)

    @precondition(lambda self: self.pool.vanished_at is None and False not in self.pool.lists)
    @rule()
    def a_list_is_empty_though_it_is_not(self) -> None:
        self.pool.lists += [False, True]

    @rule(up=st.booleans())
    def the_gateway_comes_or_goes(self, up: bool) -> None:
        self.pool.gateway_up = up

    @rule()
    def somebody_books(self) -> None:
        if held(self.pool.store, self.pool.pool) < 8:
            self.pool.book()

    @rule(seconds=st.sampled_from([10, 20, 40, 90]))
    def time_passes(self, seconds: int) -> None:
        self.pool.tick(seconds=seconds)

    def teardown(self) -> None:
        pool = self.pool
        pool.gateway_up = True
        pool.lists.clear()
        for machine in pool.machines.values():
            machine.cut = machine.loses_reply = False
            if machine.uid is None:
                pool.register_anew(machine)
        pool.tick(seconds=150)
        found = {(node.node_name, node.node_uid, node.id) for node in pool.nodes()}
        assert found == {(one.name, one.uid, one.node_id) for one in pool.machines.values()}
        assert pool.secret is None
        super().teardown()


@pytest.fixture
def memory_store(sqlite_template: Path, clock: HandClock) -> Iterator[Store]:
    """On SQLite in memory."""
    with memory_folder() as folder:
        opened = open_store(copy_of(sqlite_template, to=folder / "fleet.db"), clock=clock)
        yield opened
        opened.close()


def test_whatever_happens_to_machines_nobody_who_talks_is_retired_or_left_out(
    memory_store: Store, clock: HandClock
) -> None:
    class LivesOnThisStore(Lives):
        def __init__(self) -> None:
            super().__init__(memory_store, clock)

    run_state_machine_as_test(
        LivesOnThisStore,
        # Always the same ones: a life has ids of its own at each turn, which shrinking would take for flakiness.
        settings=settings(
            max_examples=8,
            stateful_step_count=20,
            derandomize=True,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
