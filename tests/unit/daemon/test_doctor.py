# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""`bc-fleetd doctor` on one host: settings, files, certificate, database; what it prints, and what it ends with."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ansible_collections.better_compute.fleet.daemon.command_line import main
from ansible_collections.better_compute.fleet.tests.support.doctor_desk import Desk

OTHER_PIN = "A" * 43 + "="


@pytest.fixture(autouse=True)
def _no_settings_of_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("BC_FLEET_")]:
        monkeypatch.delenv(name)


@pytest.fixture
def desk(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Desk:
    return Desk(tmp_path, capsys)


def agent(pin: str, url: str = "https://127.0.0.1:1") -> str:
    return f'[agent]\nimage = "registry.example/bcd:1"\ngateway_url = "{url}"\npins = ["{pin}"]\n'


def test_a_host_on_which_nothing_was_done_yet_is_told_what_to_run(desk: Desk) -> None:
    before = sorted(desk.folder.rglob("*"))
    status, printed = desk.run("doctor")
    assert status == 1
    assert [line.split("  ")[0].strip() for line in printed.splitlines()[:-1]] == [
        "ok",
        "ok",
        "problem",
        "not checked",
        "not checked",
        "ok",
        "ok",
        "not checked",
    ]
    assert "fleet.db does not exist -- " in printed
    assert "the first run of bc_fleet makes it, and so does `bc-fleetd migrate`" in printed
    assert "`bc-fleetd certificate` makes it" in printed
    assert printed.splitlines()[-1] == "1 problem, 0 warnings, 3 not checked"
    assert sorted(desk.folder.rglob("*")) == before, "the doctor makes nothing"


def test_a_migrated_database_without_pools_is_well(desk: Desk) -> None:
    desk.run("migrate")
    status, found = desk.doctor()
    assert status == 0
    assert [check["verdict"] for check in found["database"] + found["schema"]] == ["ok", "ok"]
    [daemon] = found["daemon"]
    assert daemon["verdict"] == "warning"
    assert "start `bc-fleetd run`" in daemon["cure"]


def test_every_problem_of_the_settings_is_a_line_and_the_rest_is_looked_at(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.run("migrate")
    monkeypatch.setenv("BC_FLEET_GATEWAY_LISTEN_PORT", "many")
    monkeypatch.setenv("BC_FLEET_RECONCILE_WRKERS", "2")
    monkeypatch.setenv("BC_FLEET_STROE_DATABASE_URL", "sqlite:////x")
    desk.write("colour = 1\n[agent]\nimage = 1\n")
    status, found = desk.doctor()
    assert status == 2
    told = {check["message"].split(":")[0]: check["verdict"] for check in found["settings"]}
    assert told == {
        "gateway.listen_port": "problem",
        "gateway.colour": "problem",
        "agent.image": "problem",
        "agent.gateway_url": "problem",
        "agent.pins": "problem",
        "BC_FLEET_RECONCILE_WRKERS": "problem",
        "the environment's BC_FLEET_STROE_DATABASE_URL is no setting": "warning",
    }
    assert found["database"][0]["verdict"] == "ok"
    for about in ("agent", "certificate", "gateway"):
        assert [check["verdict"] for check in found[about]] == ["not_checked"], about


@pytest.mark.parametrize("content", [None, "a = ", "[stroe]\n", "[store]\ndatabase_url = 1\n"])
def test_where_the_database_is_not_known_no_other_one_is_looked_at(desk: Desk, content: str | None) -> None:
    if content is None:
        desk.file.unlink()
    else:
        desk.file.write_text(content)
    status, found = desk.doctor()
    assert status == 2
    assert [check["verdict"] for check in found["database"]] == ["not_checked"]
    assert any(check["verdict"] == "problem" for check in found["settings"])


def test_a_file_that_cannot_be_read_hides_no_problem_of_the_environment(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.file.write_text("a = ")
    monkeypatch.setenv("BC_FLEET_RECONCILE_WORKERS", "many")
    monkeypatch.setenv("BC_FLEET_AGENT_IMAGE", "bcd")
    _status, found = desk.doctor()
    problems = [check["message"] for check in found["settings"]]
    assert len(problems) == 2
    assert "is not TOML" in problems[0]
    assert problems[1].startswith("reconcile.workers: ")


def test_a_database_that_is_something_else_is_named(desk: Desk) -> None:
    (desk.folder / "fleet.db").write_text("no database at all, but long enough to be looked at as one" * 20)
    status, found = desk.doctor()
    assert status == 1
    assert "is not an SQLite database" in found["schema"][0]["message"]


def test_the_password_of_the_database_is_never_said_and_must_not_be_readable(desk: Desk) -> None:
    desk.write(store="postgresql+psycopg://fleet:hunter2@127.0.0.1:1/fleet")
    desk.file.chmod(0o644)
    status, printed = desk.run("doctor")
    assert status == 1
    assert "hunter2" not in printed
    assert f"run `chmod o= {desk.file}`" in printed
    assert "postgresql+psycopg://fleet:***@127.0.0.1:1/fleet" in printed
    desk.file.chmod(0o640)
    assert "chmod" not in desk.run("doctor")[1]


def test_who_may_change_the_settings_or_the_key_is_looked_at(desk: Desk) -> None:
    desk.run("certificate")
    desk.file.chmod(0o666)
    (desk.folder / "state").chmod(0o777)
    (desk.folder / "state" / "gateway-key.pem").chmod(0o604)
    _status, found = desk.doctor()
    cures = [found[about][0]["cure"] for about in ("settings file", "gateway's key", "state folder")]
    state = desk.folder / "state"
    assert cures == [
        f"run `chmod o-w {desk.file}`",
        f"run `chmod o= {state / 'gateway-key.pem'}`",
        f"run `chmod o-w {state}`",
    ]


def test_pins_that_name_another_key_are_a_problem_and_its_pin_is_told(desk: Desk) -> None:
    pin = desk.run("certificate")[1].split()[-1]
    desk.write(agent(OTHER_PIN))
    _status, found = desk.doctor()
    [check] = found["certificate"]
    assert check["verdict"] == "problem"
    assert pin in check["message"]
    desk.write(agent(pin))
    assert desk.doctor()[1]["certificate"][0]["verdict"] == "ok"


def test_a_key_of_another_certificate_is_a_problem(desk: Desk) -> None:
    desk.run("certificate")
    first = (desk.folder / "state").rename(desk.folder / "first")
    desk.run("certificate")
    (first / "gateway-key.pem").replace(desk.folder / "state" / "gateway-key.pem")
    [check] = desk.doctor()[1]["certificate"]
    assert check["verdict"] == "problem"
    assert "is not the key of" in check["message"]


def test_a_certificate_of_ones_own_that_is_not_there_is_a_problem(desk: Desk) -> None:
    missing = desk.folder / "missing.pem"
    desk.write(f'certificate_file = "{missing}"\nkey_file = "{missing}"\n')
    [check] = desk.doctor()[1]["certificate"]
    assert (check["verdict"], check["message"]) == (
        "problem",
        f"[gateway] certificate_file: {missing}: No such file or directory",
    )


@pytest.mark.parametrize(
    ("url", "why"),
    [("https://127.0.0.1:1", "Connection refused"), ("https://gateway.invalid", "its name cannot be resolved")],
)
def test_a_gateway_that_does_not_answer_is_a_warning(desk: Desk, url: str, why: str) -> None:
    desk.write(agent(OTHER_PIN, url))
    [check] = desk.doctor()[1]["gateway"]
    assert check["verdict"] == "warning"
    assert check["message"].startswith(f"{url} does not answer this host: {why}")


def test_a_fault_ends_without_a_traceback(
    desk: Desk, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fault(*_given: object, **_named: object) -> None:
        raise ValueError("what")

    monkeypatch.setattr("ansible_collections.better_compute.fleet.daemon.doctor.examining.read_settings", fault)
    assert main(["doctor", "--settings", str(desk.file)]) == 1
    assert "Traceback" not in capsys.readouterr().err
