# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The tests' own PostgreSQL: each test gets an empty database, and the server goes with whoever started it."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
import sqlalchemy

from ansible_collections.better_compute.fleet.tests.support import postgres


@pytest.mark.parametrize("run", ["first", "second"])
def test_a_test_gets_an_empty_database_of_its_own(database_url: str, run: str) -> None:
    engine = sqlalchemy.create_engine(database_url)
    with engine.begin() as connection:
        connection.execute(sqlalchemy.text("CREATE TABLE mark (run TEXT)"))
        connection.execute(sqlalchemy.text("INSERT INTO mark VALUES (:run)"), {"run": run})
        assert connection.execute(sqlalchemy.text("SELECT run FROM mark")).all() == [(run,)]
    engine.dispose()


def test_the_programs_in_the_wheel_serve_where_none_are_installed() -> None:
    programs = postgres.wheel_programs()
    assert programs is not None
    with postgres.running_server(programs=programs) as server, server.fresh_database() as url:
        engine = sqlalchemy.create_engine(url)
        with engine.connect() as connection:
            assert connection.execute(sqlalchemy.text("SELECT 1")).scalar_one() == 1
        engine.dispose()
    assert not server.folder.exists()


def test_without_any_programs_the_failure_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgres, "installed_programs", lambda: None)
    monkeypatch.setattr(postgres, "wheel_programs", lambda: None)
    with pytest.raises(postgres.PostgresUnavailable, match="make venv"):
        postgres.find_programs()


def test_the_server_ends_when_its_tests_are_killed() -> None:
    program = (
        "import sys\n"
        "from ansible_collections.better_compute.fleet.tests.support import postgres\n"
        "with postgres.running_server() as server:\n"
        "    print(server.pid, server.folder, flush=True)\n"
        "    sys.stdin.read()\n"
    )
    tests = subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert tests.stdout is not None
    assert tests.stdin is not None
    pid, folder = tests.stdout.readline().split()
    server = psutil.Process(int(pid))
    tests.kill()
    tests.communicate()
    server.wait(timeout=postgres.SHUTDOWN_LIMIT_SECONDS)
    assert not (Path(folder) / "data" / "postmaster.pid").exists()
    shutil.rmtree(folder)
