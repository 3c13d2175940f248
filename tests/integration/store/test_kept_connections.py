# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The SQLite connections that a store keeps: never to a file that is gone, and one writer of the process at a time."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import StoreUnavailable
from ansible_collections.better_compute.fleet.plugins.module_utils._core.store import (
    Store,
    create_schema,
    engine,
    fleet,
    open_store,
)
from ansible_collections.better_compute.fleet.tests.support import rows


def connection_of(store: Store) -> int:
    """Which connection a read takes."""
    with store.read() as tx:
        fleet.serial(tx)
        return id(tx._connection.connection.dbapi_connection)


def test_a_connection_is_kept_for_the_next_transaction(sqlite_url: str) -> None:
    store = open_store(sqlite_url)
    assert connection_of(store) == connection_of(store)
    store.close()


def test_a_file_that_took_the_place_of_another_is_the_one_that_is_written(sqlite_url: str, tmp_path: Path) -> None:
    """As when a backup is restored while somebody has the store open."""
    store = open_store(sqlite_url)
    with store.write() as tx:
        fleet.put_site(tx, rows.site(name="before"))
    create_schema(f"sqlite:///{tmp_path / 'backup.db'}")
    for left in ("fleet.db-wal", "fleet.db-shm"):
        (tmp_path / left).unlink(missing_ok=True)
    (tmp_path / "backup.db").replace(tmp_path / "fleet.db")
    with store.read() as tx:
        assert fleet.sites(tx) == ()
    with store.write() as tx:
        fleet.put_site(tx, rows.site(name="after"))
    store.close()
    other = open_store(sqlite_url)
    with other.read() as tx:
        assert [site.name for site in fleet.sites(tx)] == ["after"]
    other.close()


def test_a_thread_waits_for_the_one_that_writes_and_then_finds_what_it_wrote(sqlite_url: str) -> None:
    store = open_store(sqlite_url)
    wants = threading.Event()
    found: list[str] = []

    def second() -> None:
        wants.set()
        with store.write() as tx:
            found.extend(site.name for site in fleet.sites(tx))

    thread = threading.Thread(target=second)
    with store.write() as tx:
        thread.start()
        wants.wait()
        fleet.put_site(tx, rows.site(name="first"))
    thread.join()
    assert found == ["first"]
    store.close()


def test_a_thread_whose_turn_does_not_come_in_time_says_unavailable(
    sqlite_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = open_store(sqlite_url)
    refused: list[Exception] = []

    def second() -> None:
        try:
            with store.write():
                pass
        except StoreUnavailable as error:
            refused.append(error)

    with store.write() as tx:
        fleet.put_site(tx, rows.site())
        monkeypatch.setattr(engine, "LOCK_TIMEOUT_SECONDS", 0.01)
        thread = threading.Thread(target=second)
        thread.start()
        thread.join()
    assert "locked by another thread" in str(refused[0])
    with store.read() as tx:
        assert len(fleet.sites(tx)) == 1
    store.close()


def test_a_turn_that_ends_with_an_error_is_over(sqlite_url: str) -> None:
    store = open_store(sqlite_url)
    with pytest.raises(ZeroDivisionError), store.write():
        raise ZeroDivisionError
    with store.write() as tx:
        assert fleet.put_site(tx, rows.site())
    store.close()
