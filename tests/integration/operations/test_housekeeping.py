# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The daemon's hourly run: what it forgets, tells and counts, and what who reads events is told afterwards."""

from __future__ import annotations

import logging
from collections import Counter
from datetime import datetime, timedelta

import pytest

from ansible_collections.better_compute.fleet.daemon.metrics import Metrics
from ansible_collections.better_compute.fleet.daemon.service.housekeeping import Housekeeping
from ansible_collections.better_compute.fleet.daemon.service.outage import Outage
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.census import Census
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import (
    Code,
    OperationError,
    StoreUnavailable,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.retention import Kind
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.events import read_events
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.housekeeping import forget_history
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.session import Session
from ansible_collections.better_compute.fleet.plugins.module_utils._core.store import (
    clusters,
    events,
    fleet,
    forgetting,
    pool_nodes,
)
from ansible_collections.better_compute.fleet.tests.support import rows
from ansible_collections.better_compute.fleet.tests.support.long_history import add_history
from ansible_collections.better_compute.fleet.tests.support.node_pool_desk import Desk
from ansible_collections.better_compute.fleet.tests.support.rows import START, HandClock
from ansible_collections.better_compute.fleet.tests.support.scrapes import scrape


def no_census() -> Census:
    raise StoreUnavailable("nobody counts here")


@pytest.fixture
def metrics() -> Metrics:
    """A daemon's."""
    return Metrics(count=no_census, workers=1)


@pytest.fixture
def old_session(desk: Desk, clock: HandClock) -> Session:
    """A fleet in which everything was over on the first day, a hundred days ago."""
    session, pool = desk.session, rows.pool(name="old-fleet")
    with session.store.write() as tx:
        fleet.put_pool(tx, pool)
        clusters.add_cluster(tx, cluster := rows.cluster(pool.id))
        clusters.add_node_pool(tx, rows.node_pool(cluster.id))
    add_history(session.store, pool.id, years_ago=START, many=4)
    clock.advance(days=100)
    return session


class Daemon:
    """One whose clocks are moved by hand: `clock` is the store's, and nobody sets the other one."""

    def __init__(self, session: Session, clock: HandClock, metrics: Metrics) -> None:
        self.clock, self.outage, self._elapsed = clock, Outage(), 0.0
        self._house = Housekeeping(session, self.outage, metrics, passed=lambda: self._elapsed)
        self._house.run()

    def an_hour_later(self, **jump: float) -> None:
        """The next run, the store's clock set by so much meanwhile."""
        self._elapsed += 3600
        self.clock.advance(hours=1)
        self.clock.advance(**jump)
        self._house.run()


def test_a_run_forgets_by_the_settings_and_tells_and_counts_it(
    old_session: Session, clock: HandClock, metrics: Metrics, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO):
        daemon = Daemon(old_session, clock, metrics)
        daemon.an_hour_later()
        daemon.an_hour_later()
    [told] = [record.getMessage() for record in caplog.records if "forgotten" in record.getMessage()]
    assert told.startswith("history of more than 90 days ago is forgotten: 11 events, 4 reservations, 4 join tokens, ")
    counted = scrape(metrics)
    assert counted.value("bc_fleetd_forgotten_rows_total", kind="events") == 11
    assert counted.value("bc_fleetd_forgotten_rows_total", kind="nodes") == 3
    assert counted.value("bc_fleetd_forgotten_rows_total", kind="pools") == 0


def test_a_run_ends_when_the_process_is_told_to_and_the_next_one_goes_on(
    old_session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(forgetting, "BATCH", 2)
    gone: Counter[Kind] = Counter()

    def told(kind: Kind, many: int) -> None:
        gone[kind] += many
        old_session.stopping.set()

    forget_history(old_session, told=told)
    assert gone == {Kind.EVENTS: 2}
    old_session.stopping.clear()
    forget_history(old_session, told=lambda kind, many: gone.update({kind: many}))
    assert gone[Kind.EVENTS] == 11


def test_a_kind_that_something_came_to_refer_to_this_moment_waits_and_the_others_do_not(
    old_session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = forgetting.forget

    def forget(store: object, kind: Kind, *, keep: timedelta, now: datetime | None) -> int:
        if kind is Kind.RESERVATIONS:
            raise OperationError(Code.CONFLICT, "the records changed meanwhile")
        return right(old_session.store, kind, keep=keep, now=now)

    monkeypatch.setattr(forgetting, "forget", forget)
    gone: Counter[Kind] = Counter()
    forget_history(old_session, told=lambda kind, many: gone.update({kind: many}))
    assert gone[Kind.RESERVATIONS] == 0
    assert gone[Kind.JOIN_TOKENS] == gone[Kind.NODE_POOLS] == 4


def test_a_database_that_is_away_is_left_alone(
    old_session: Session, clock: HandClock, metrics: Metrics, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Kind] = []

    def away(store: object, kind: Kind, *, keep: timedelta, now: datetime | None) -> int:
        asked.append(kind)
        raise StoreUnavailable("no route")

    monkeypatch.setattr(forgetting, "forget", away)
    daemon = Daemon(old_session, clock, metrics)
    daemon.an_hour_later()
    assert daemon.outage.lasts()
    daemon.an_hour_later()
    assert asked == [Kind.EVENTS]


def test_a_clock_that_jumps_forgets_nothing_before_it_is_steady_for_an_hour(
    desk: Desk, clock: HandClock, metrics: Metrics, caplog: pytest.LogCaptureFixture
) -> None:
    session, pool = desk.session, rows.pool(name="old-fleet")
    with session.store.write() as tx:
        fleet.put_pool(tx, pool)
        clusters.add_cluster(tx, cluster := rows.cluster(pool.id))
        clusters.add_node_pool(tx, rows.node_pool(cluster.id))
    add_history(session.store, pool.id, years_ago=START, many=4)
    daemon = Daemon(session, clock, metrics)
    daemon.an_hour_later(days=400)
    assert "the clock jumped by 400 days, 0:00:00" in caplog.text
    daemon.an_hour_later(days=-400)
    daemon.an_hour_later()
    assert len(read_events(session)) == 12
    daemon.an_hour_later(days=400)
    daemon.an_hour_later()  # so it was right
    assert len(read_events(session)) == 1


def test_a_clock_that_jumps_in_the_middle_of_a_run_makes_nothing_older(
    desk: Desk, clock: HandClock, metrics: Metrics, monkeypatch: pytest.MonkeyPatch
) -> None:
    session, pool = desk.session, rows.pool(name="old-fleet")
    clock.advance(days=-100)
    with session.store.write() as tx:
        fleet.put_pool(tx, pool)
        clusters.add_cluster(tx, cluster := rows.cluster(pool.id))
        clusters.add_node_pool(tx, rows.node_pool(cluster.id))
        for _event in range(2):
            events.publish(tx, tenant_id=pool.tenant_id, subject=cluster.id, type="kubernetes.cluster.ready", data={})
    clock.advance(days=100)
    add_history(session.store, pool.id, years_ago=START, many=4)
    gone: Counter[str] = Counter()

    def jumps(kind: Kind, many: int) -> None:
        gone[kind] += many
        clock.advance(days=400)

    monkeypatch.setattr(metrics, "forgotten", jumps)
    Daemon(session, clock, metrics).an_hour_later()
    # The old event but one, and the clusters and node pools that no event tells of: these ask no clock.
    assert gone[Kind.EVENTS] == 1
    assert gone[Kind.RESERVATIONS] == gone[Kind.JOIN_TOKENS] == gone[Kind.NODES] == 0


def test_who_reads_on_from_a_forgotten_event_is_told_so(old_session: Session) -> None:
    known = read_events(old_session)
    assert len(known) == 12
    forget_history(old_session, told=lambda _kind, _many: None)
    assert read_events(old_session, since=known[-1].event.id) == (), "the latest one is never forgotten"
    with pytest.raises(OperationError, match=r"it is forgotten \(they are kept for 90 days\).*begin anew") as refusal:
        read_events(old_session, since=known[0].event.id)
    assert refusal.value.code is Code.NOT_FOUND
    [left] = read_events(old_session)
    with old_session.store.read() as tx:
        node = pool_nodes.node(tx, left.event.subject)  # type: ignore[arg-type]  # the event is about a node
    assert node is not None
    assert left.pool == "old-fleet", "the pool of what is still told of has its name"
