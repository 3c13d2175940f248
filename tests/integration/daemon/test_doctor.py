# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""`bc-fleetd doctor` on real databases of another version, and beside a gateway that runs."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text

from ansible_collections.better_compute.fleet.daemon.command_line import main
from ansible_collections.better_compute.fleet.daemon.doctor.addresses import check_addresses, check_gateway
from ansible_collections.better_compute.fleet.plugins.module_utils._core.documents.settings import read_settings
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.clock import SystemClock
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.findings import Verdict
from ansible_collections.better_compute.fleet.plugins.module_utils._core.store import create_schema
from ansible_collections.better_compute.fleet.plugins.module_utils._core.store.schema import HEAD
from ansible_collections.better_compute.fleet.tests.support.daemon_process import daemon, environment_for
from ansible_collections.better_compute.fleet.tests.support.life import memory_folder, scene


@pytest.mark.parametrize(
    ("stamp", "cure"),
    [("0001", "run `bc-fleetd migrate`"), ("9999", "it was migrated by a newer version: install that version here")],
)
def test_a_schema_of_another_version_is_a_problem_with_its_cure(
    database_url: str, stamp: str, cure: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in [name for name in os.environ if name.startswith("BC_FLEET_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("BC_FLEET_STORE_DATABASE_URL", database_url)
    create_schema(database_url)
    engine = create_engine(database_url)
    with engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = :stamp"), {"stamp": stamp})
    assert main(["doctor", "--json"]) == 1
    [schema] = [check for check in json.loads(capsys.readouterr().out)["checks"] if check["about"] == "schema"]
    assert schema["verdict"] == "problem"
    assert f"has schema {stamp}, this version needs {HEAD}: {cure}" in schema["message"]
    with engine.connect() as connection:
        assert connection.execute(text("SELECT version_num FROM alembic_version")).scalar() == stamp
    engine.dispose()


def test_a_gateway_that_answers_is_known_by_its_pin() -> None:
    with memory_folder() as folder, scene(f"sqlite:///{folder / 'fleet.db'}") as stage:
        known = check_gateway(read_settings(environ=stage.environment))
        other = {**stage.environment, "BC_FLEET_AGENT_PINS": "A" * 43 + "="}
        unknown = check_gateway(read_settings(environ=other))
    assert known.verdict == Verdict.OK
    assert unknown.verdict == Verdict.PROBLEM
    assert stage.environment["BC_FLEET_AGENT_PINS"] in unknown.message


def test_a_daemon_that_runs_is_known_at_both_its_addresses(tmp_path: Path) -> None:
    environment = environment_for(f"sqlite:///{tmp_path / 'fleet.db'}", tmp_path)
    environment |= {"BC_FLEET_API_LISTEN_HOST": "127.0.0.2", "BC_FLEET_API_LISTEN_PORT": "0"}
    with daemon(environment) as process:
        assert process.stdout is not None
        gateway, api = re.findall(r"https://127.0.0.[12]:([0-9]+)", process.stdout.readline())
        environment |= {"BC_FLEET_GATEWAY_LISTEN_PORT": gateway, "BC_FLEET_API_LISTEN_PORT": api}
        found = list(check_addresses(read_settings(environ=environment), now=SystemClock().now()))
    assert [(check.about, check.verdict, check.message) for check in found] == [
        ("gateway's address", Verdict.OK, f"127.0.0.1:{gateway} answers with this host's key"),
        ("API's address", Verdict.OK, f"127.0.0.2:{api} answers with this host's key"),
    ]
