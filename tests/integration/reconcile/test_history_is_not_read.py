# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a daemon does all day costs the same in a fleet with years of history as in a new one, on both databases.

Not how long it takes is looked at, but what the database goes through for it.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest

from ansible_collections.better_compute.fleet.plugins.module_utils._core.booking.standing import bookings_for_nodes
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.ids import PLATFORM_TENANT
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.secret import Secret
from ansible_collections.better_compute.fleet.plugins.module_utils._core.nodes.credentials import good_credentials
from ansible_collections.better_compute.fleet.plugins.module_utils._core.nodes.heartbeat import Heartbeats
from ansible_collections.better_compute.fleet.plugins.module_utils._core.nodes.joining import Joined, join_all
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.claiming import claim_fairly
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.counting import count_fleet
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.passes import give_back
from ansible_collections.better_compute.fleet.plugins.module_utils._core.store import fleet as fleet_rows
from ansible_collections.better_compute.fleet.plugins.module_utils._core.store import pool_nodes, work
from ansible_collections.better_compute.fleet.tests.support.joining_machines import asks, new_token
from ansible_collections.better_compute.fleet.tests.support.life.fleet_at_hand import Fleet
from ansible_collections.better_compute.fleet.tests.support.life.world import document
from ansible_collections.better_compute.fleet.tests.support.long_history import add_history
from ansible_collections.better_compute.fleet.tests.support.rows_read import know_sizes, toil

MANY = 2_000
ALLOWED = 300
"""Rows or steps of SQLite's program, which takes several for a row: reading even one row in five would be more."""


def one_pass(fleet: Fleet) -> None:
    fleet.one_pass()


def heartbeats(fleet: Fleet) -> None:
    """The first batches of a gateway that has just begun: the second one looks who was silent all the time."""
    heard = Heartbeats(clock=fleet.scene.clock)
    for _flush in range(2):
        for node in fleet.nodes().values():
            heard.beat(node)
        heard.flush(fleet.session.store)
        fleet.scene.clock.advance(31)


def a_join(fleet: Fleet) -> None:
    fleet.scene.clock.advance(1)
    now = fleet.scene.clock.now()
    with fleet.session.store.read() as tx:
        pool = fleet_rows.pool(tx, fleet.pool_id)
    assert pool is not None
    new_token(
        fleet.session.store, pool, token := Secret(f"token of {now}"), max_uses=9, expires_at=now + timedelta(hours=1)
    )
    [joined] = join_all(fleet.session.store, [asks(f"new at {now}", token=token)])
    assert isinstance(joined, Joined)


def a_booking(fleet: Fleet) -> None:
    fleet.release(fleet.book(name="one", gpus=1))


def a_claim(fleet: Fleet) -> None:
    with fleet.session.store.write() as tx:
        work.make_due(tx, fleet.pool_id, tx.now)
    [claimed] = claim_fairly(fleet.session, {}, limit=1)
    give_back(fleet.session, [claimed.lease])


def a_scrape(fleet: Fleet) -> None:
    count_fleet(fleet.session)


def what_the_gateway_reads(fleet: Fleet) -> None:
    good_credentials(fleet.session.store)
    with fleet.session.store.read() as tx:
        hashes = pool_nodes.identity_hashes(tx)
        found = pool_nodes.identities(tx, hashes)
        bookings_for_nodes(tx, [node.id for node in found.values()])


@pytest.mark.parametrize(
    "act",
    [
        one_pass,
        heartbeats,
        a_join,
        a_booking,
        a_claim,
        a_scrape,
        what_the_gateway_reads,
    ],
    ids=lambda act: str(act.__name__),
)
def test_history_is_not_gone_through(fleet_on_either: Fleet, act: Callable[[Fleet], None]) -> None:
    fleet = fleet_on_either
    fleet.join_all(document())
    with fleet.session.store.write() as tx:
        fleet_rows.put_quota(tx, tenant_id=PLATFORM_TENANT, pool_id=fleet.pool_id, gpus=16)
    fleet.book(name="stands", gpus=2)
    act(fleet)
    know_sizes(fleet.session.store)
    with toil(fleet.session.store) as new:
        act(fleet)
    add_history(fleet.session.store, fleet.pool_id, years_ago=fleet.scene.clock.now() - timedelta(days=900), many=MANY)
    know_sizes(fleet.session.store)
    with toil(fleet.session.store) as old:
        act(fleet)
    assert new.by_statement, "something was asked"
    assert old.beyond(new, allowed=ALLOWED) == {}
