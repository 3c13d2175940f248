# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A fleet of the version before, brought up by `bc-fleetd migrate`: every row stays, and all goes on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import pytest
from sqlalchemy import Engine, create_engine, event

from ansible_collections.better_compute.fleet.daemon.command_line import main
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import SchemaMismatch
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations import reservations
from ansible_collections.better_compute.fleet.plugins.module_utils._core.store import open_store
from ansible_collections.better_compute.fleet.plugins.module_utils._core.store.schema import HEAD
from ansible_collections.better_compute.fleet.tests.support.former_database import Rows, read_rows, turn_back
from ansible_collections.better_compute.fleet.tests.support.life.fleet_at_hand import Fleet
from ansible_collections.better_compute.fleet.tests.support.life.world import document


@pytest.fixture
def former(fleet_on_either: Fleet, monkeypatch: pytest.MonkeyPatch) -> tuple[Fleet, Rows]:
    """A fleet with bookings and history, whose database has become one of the version before; and its rows."""
    fleet = fleet_on_either
    fleet.join_all(document())
    ended = fleet.book(name="ended", gpus=2)
    reservations.give_back(fleet.session, fleet.reservation(ended))
    fleet.book(name="bound", gpus=4)
    fleet.live(minutes=6)
    monkeypatch.setenv("BC_FLEET_STORE_DATABASE_URL", fleet.scene.database_url)
    return fleet, turn_back(fleet.scene.database_url)


@contextmanager
def looking_at(url: str) -> Iterator[Engine]:
    engine = create_engine(url)
    yield engine
    engine.dispose()


def within(old: Any, new: Any) -> bool:
    """Whether all of an old row stands in the new one; only what revision 0002 takes out may be missing."""
    return all(new[key] == value for key, value in old.items() if key != "zones")


def assert_every_row_is_there(rows: Rows, url: str) -> None:
    with looking_at(url) as engine:
        after = read_rows(engine)
    assert after.pop("api_tokens") == [], "which came with revision 0004"
    assert set(after) == set(rows)
    for name, old in rows.items():
        assert len(after[name]) == len(old), name
        assert all(within(one, other) for one, other in zip(old, after[name], strict=True)), name


def test_every_row_stays_and_the_fleet_is_at_rest_without_a_change_to_anything(former: tuple[Fleet, Rows]) -> None:
    fleet, rows = former
    url = fleet.scene.database_url
    assert all(rows.values()), [name for name, found in rows.items() if not found]
    assert "places" not in rows["accounts"][0]
    assert "taints" not in rows["node_pools"][0]["shape"]
    with pytest.raises(SchemaMismatch, match=f"has schema 0001, this version needs {HEAD}: .*bc-fleetd migrate"):
        open_store(url)
    assert main(["migrate"]) == 0
    assert_every_row_is_there(rows, url)

    mark = fleet.scene.engine.log.mark
    view = fleet.one_pass()
    assert (view.ready, view.record.message) == (True, "")
    assert fleet.scene.engine.log.entries(after=mark, mutating=True) == ()
    assert {node.node_pool for node in fleet.nodes().values()} == {"h100", "h100-spot"}
    rested = fleet.rows()
    fleet.live(minutes=6)
    assert fleet.rows() == rested
    fleet.apply(document())
    assert fleet.rows() == rested, "the document says nothing new"


def test_a_migration_that_is_interrupted_anywhere_leaves_the_database_of_before(former: tuple[Fleet, Rows]) -> None:
    fleet, rows = former
    url = fleet.scene.database_url
    for number in range(1, 1000):
        with interrupted_at(number) as interrupted, suppress(KeyboardInterrupt):
            main(["migrate"])
        if not interrupted:
            break
        with looking_at(url) as engine:
            assert read_rows(engine) == rows
    assert number > 10, "there were places to be interrupted at"
    assert_every_row_is_there(rows, url)
    assert fleet.one_pass().ready


@contextmanager
def interrupted_at(number: int) -> Iterator[list[str]]:
    """The process is told to end when it is about to execute this statement that changes something."""
    struck: list[str] = []
    left = [number]

    def come(_connection: Any, _cursor: Any, statement: str, *_rest: Any) -> None:
        if statement.lstrip().upper().startswith(("CREATE", "ALTER", "DROP", "INSERT", "UPDATE", "DELETE")):
            left[0] -= 1
            if left[0] == 0:
                struck.append(statement)
                raise KeyboardInterrupt

    event.listen(Engine, "before_cursor_execute", come)
    try:
        yield struck
    finally:
        event.remove(Engine, "before_cursor_execute", come)
