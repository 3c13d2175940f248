# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Transactions: what they see, what is left of one that fails, and what is said when the database does not answer."""

from __future__ import annotations

import contextlib
import socket
import sqlite3
import subprocess
import sys
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import (
    Code,
    OperationError,
    StoreUnavailable,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.ids import PoolId
from ansible_collections.better_compute.fleet.plugins.module_utils._core.store import (
    Store,
    create_schema,
    engine,
    fleet,
    open_store,
    reservations,
    work,
)
from ansible_collections.better_compute.fleet.tests.support import rows
from ansible_collections.better_compute.fleet.tests.support.rows import START, HandClock
from ansible_collections.better_compute.fleet.tests.support.store_processes import run_at_once


def test_a_block_that_raises_leaves_nothing(store: Store) -> None:
    def write_half() -> None:
        with store.write() as tx:
            fleet.put_site(tx, rows.site())
            raise RuntimeError("half-way")

    with pytest.raises(RuntimeError, match="half-way"):
        write_half()
    with store.read() as tx:
        assert fleet.sites(tx) == ()


def test_hooks_stand_around_each_commit(store: Store) -> None:
    """A process that dies before the commit has written nothing, one that dies after it everything."""

    def die(moment: str) -> None:
        if moment == at:
            raise KeyboardInterrupt

    store.on_commit.append(die)
    seen: dict[str, int] = {}
    for at in ("before", "after"):
        with pytest.raises(KeyboardInterrupt), store.write() as tx:
            fleet.put_site(tx, rows.site())
        with store.read() as tx:
            seen[at] = len(fleet.sites(tx))
    assert seen == {"before": 0, "after": 1}


def test_a_read_sees_one_snapshot(store: Store) -> None:
    with store.read() as reading:
        assert fleet.serial(reading) == 0
        with store.write() as tx:
            fleet.bump_serial(tx, 0)
        assert fleet.serial(reading) == 0
    with store.read() as reading:
        assert fleet.serial(reading) == 1


def test_a_read_cannot_write(store: Store) -> None:
    with pytest.raises(RuntimeError, match=r"within Store\.read"), store.read() as tx:
        fleet.put_site(tx, rows.site())


def test_now_is_the_given_clocks_and_fixed_for_the_transaction(store: Store, clock: HandClock) -> None:
    with store.read() as tx:
        assert tx.now == START
        clock.advance(seconds=1)
        assert tx.now == START


def test_now_is_the_databases_or_the_machines_own_without_a_clock(store_url: str) -> None:
    store = open_store(store_url)
    with store.read() as tx:
        assert abs(tx.now - datetime.now(UTC)) < timedelta(minutes=1)
        assert tx.now.utcoffset() == timedelta(0)
    store.close()


def test_times_come_back_to_the_microsecond_in_utc(store: Store) -> None:
    moment = datetime.fromisoformat("2026-11-01T13:00:00.000001+01:00")
    with store.write() as tx:
        work.add_unit(tx, "pool_1", moment)
    with store.read() as tx:
        due = work.due_of(tx, "pool_1")
    assert due == moment
    assert due is not None
    assert due.utcoffset() == timedelta(0)


def test_a_time_without_a_zone_is_refused(store: Store) -> None:
    with pytest.raises(Exception, match="without a time zone"), store.write() as tx:
        work.add_unit(tx, "pool_1", datetime(2026, 11, 1))  # noqa: DTZ001 -- the mistake that is tested


def test_a_row_that_refers_to_nothing_is_a_conflict(store: Store) -> None:
    with pytest.raises(OperationError) as refusal, store.write() as tx:
        reservations.add_reservation(tx, rows.reservation(PoolId("pool_unknown")))
    assert refusal.value.code is Code.CONFLICT
    assert refusal.value.__cause__ is None


def test_a_second_row_of_a_unique_name_is_a_conflict(store: Store) -> None:
    with store.write() as tx:
        fleet.put_site(tx, rows.site())
    with pytest.raises(OperationError) as refusal, store.write() as tx:
        fleet.put_site(tx, rows.site())
    assert refusal.value.code is Code.CONFLICT


def test_a_writer_that_finds_the_file_locked_too_long_says_unavailable(
    sqlite_url: str, clock: HandClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_store(sqlite_url).close()
    monkeypatch.setattr(engine, "LOCK_TIMEOUT_SECONDS", 0)
    store = open_store(sqlite_url, clock=clock)
    with store.write(), pytest.raises(StoreUnavailable, match="locked"), store.write():
        pass


def test_a_writer_that_finds_the_row_locked_too_long_says_unavailable(
    postgresql_url: str, clock: HandClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    create_schema(postgresql_url)
    monkeypatch.setattr(engine, "LOCK_TIMEOUT_SECONDS", 0.05)
    store = open_store(postgresql_url, clock=clock)
    with store.write() as tx:
        work.add_unit(tx, "pool_1", START)
        lease = work.acquire(tx, "pool_1", "first")
    assert lease is not None
    with store.write(lease=lease), pytest.raises(StoreUnavailable, match="lock timeout"), store.write(lease=lease):
        pass
    store.close()


def test_no_update_of_writers_that_run_at_once_is_lost(store: Store) -> None:
    """Each reads, then writes. On SQLite they take turns from the start; on PostgreSQL the later one is told."""
    done: list[int] = []

    def bump() -> None:
        for _time in range(10):
            with contextlib.suppress(OperationError), store.write() as tx:
                done.append(fleet.bump_serial(tx, fleet.serial(tx)))

    threads = [threading.Thread(target=bump) for _thread in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with store.read() as tx:
        assert fleet.serial(tx) == len(done)
    assert sorted(done) == list(range(1, len(done) + 1))
    assert len(done) == 40 or not store.name.startswith("sqlite")


def test_a_server_that_does_not_answer_is_unavailable_and_named_without_its_password() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        with pytest.raises(StoreUnavailable) as failure:
            open_store(f"postgresql+psycopg://fleet:t0psecret@127.0.0.1:{port}/fleet?sslpassword=t0psecret2")
    assert f"127.0.0.1:{port}" in str(failure.value)
    assert "t0psecret" not in str(failure.value)
    assert failure.value.__cause__ is None


@pytest.mark.parametrize(
    "url", ["mysql://fleet:t0psecret@host/fleet", "sqlite://", "sqlite:///:memory:", "sqlite:///x.db", "t0psecret", ""]
)
def test_an_address_of_no_known_kind_is_told_without_repeating_it(url: str) -> None:
    with pytest.raises(StoreUnavailable, match="database_url must be") as failure:
        open_store(url)
    assert "t0psecret" not in str(failure.value)


def test_the_stores_name_and_repr_show_no_password(postgresql_url: str) -> None:
    create_schema(postgresql_url)
    store = open_store(postgresql_url.replace("postgres@", "postgres:t0psecret@"))
    assert "t0psecret" not in f"{store!r} {store.name}"
    store.close()


def test_a_folder_that_is_missing_in_mid_flight_is_unavailable(sqlite_url: str, tmp_path: Path) -> None:
    store = open_store(sqlite_url)
    for file in tmp_path.iterdir():
        file.unlink()
    tmp_path.rmdir()
    with pytest.raises(StoreUnavailable), store.read():
        pass
    tmp_path.mkdir()


def end_every_connection(url: str) -> None:
    """Let the server close all connections to the database, as at its restart."""
    admin = create_engine(url)
    with admin.begin() as connection:
        others = "pid <> pg_backend_pid() AND datname = current_database()"
        connection.execute(text(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE {others}"))
    admin.dispose()


def test_connections_that_the_server_closed_are_replaced(postgresql_url: str) -> None:
    create_schema(postgresql_url)
    store = open_store(postgresql_url)
    with store.read() as tx:
        fleet.serial(tx)
    end_every_connection(postgresql_url)
    with store.read() as tx:
        assert fleet.serial(tx) == 0
    store.close()


def test_a_connection_that_is_lost_within_a_transaction_is_unavailable_and_leaves_nothing(postgresql_url: str) -> None:
    create_schema(postgresql_url)
    store = open_store(postgresql_url)

    def write_and_lose_the_connection() -> None:
        with store.write() as tx:
            fleet.put_site(tx, rows.site())
            end_every_connection(postgresql_url)
            fleet.put_site(tx, rows.site(name="second"))

    with pytest.raises(StoreUnavailable):
        write_and_lose_the_connection()
    with store.read() as tx:
        assert fleet.sites(tx) == ()
    store.close()


def test_a_connection_that_is_lost_before_the_commit_is_unavailable(postgresql_url: str) -> None:
    create_schema(postgresql_url)
    store = open_store(postgresql_url)
    store.on_commit.append(lambda moment: end_every_connection(postgresql_url) if moment == "before" else None)
    with pytest.raises(StoreUnavailable), store.write() as tx:
        fleet.put_site(tx, rows.site())
    with store.read() as tx:
        assert fleet.sites(tx) == ()
    store.close()


def test_a_forked_child_opens_its_own_connections_and_the_parent_keeps_its(store: Store, store_url: str) -> None:
    assert run_at_once("fork", store_url, processes=1) == [0]
    with store.read() as tx:
        assert [site.name for site in fleet.sites(tx)] == ["child-0", "parent-0"]


def test_a_sqlite_store_waits_for_no_reader_and_syncs_every_commit(sqlite_url: str) -> None:
    store = open_store(sqlite_url)
    with store.write() as tx:
        settings = {
            name: tx._connection.exec_driver_sql(f"PRAGMA {name}").scalar()
            for name in ("journal_mode", "synchronous", "foreign_keys", "busy_timeout")
        }
    assert settings == {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1, "busy_timeout": 10_000}


def test_a_sqlite_write_transaction_holds_the_file_from_its_begin_on(sqlite_url: str, tmp_path: Path) -> None:
    store = open_store(sqlite_url)
    with store.write():
        other = sqlite3.connect(tmp_path / "fleet.db", timeout=0, isolation_level=None)
        with pytest.raises(sqlite3.OperationalError, match="locked"):
            other.execute("BEGIN IMMEDIATE")
        other.close()


def test_the_store_is_imported_without_sqlalchemy() -> None:
    """As ansible-test does, and as a module run does that only wants to say what is missing."""
    program = (
        "import sys\n"
        "sys.modules['sqlalchemy'] = None\n"
        "import ansible_collections.better_compute.fleet.plugins.module_utils._core.store as store\n"
        "from ansible_collections.better_compute.fleet.plugins.module_utils._core.store import (\n"
        "    clusters, events, fleet, gateways, idempotency, join_tokens, pool_nodes, reservations, substrates, work)\n"
        "try:\n"
        "    store.open_store('sqlite:////x')\n"
        "except ImportError:\n"
        "    sys.exit(7)\n"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 7
