# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""bc-fleetd's commands: what they print, what they end with, and what they say when the settings are wrong."""

from __future__ import annotations

import json
import os
import platform
from pathlib import Path

import pytest
import yaml

from ansible_collections.better_compute.fleet.daemon.command_line import main
from ansible_collections.better_compute.fleet.daemon.version import collection_version
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.states import ClusterState
from ansible_collections.better_compute.fleet.plugins.module_utils._core.store import clusters, fleet, open_store
from ansible_collections.better_compute.fleet.tests.support import rows
from ansible_collections.better_compute.fleet.tests.support.fleet_documents import example


@pytest.fixture(autouse=True)
def _no_settings_of_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("BC_FLEET_")]:
        monkeypatch.delenv(name)


@pytest.fixture
def settings(tmp_path: Path) -> Path:
    """A settings file without [agent]: nothing runs on a cluster yet."""
    file = tmp_path / "fleet.toml"
    file.write_text(
        f'[store]\ndatabase_url = "sqlite:///{tmp_path / "fleet.db"}"\n[gateway]\nstate_dir = "{tmp_path / "state"}"\n'
    )
    return file


def agent(pin: str) -> str:
    return f'[agent]\nimage = "registry.example/bcd:1"\ngateway_url = "https://gateway.example"\npins = ["{pin}"]\n'


def test_certificate_prints_the_pin_as_its_last_word(settings: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["certificate", "--settings", str(settings)]) == 0
    told = capsys.readouterr()
    assert len(told.out.split()[-1]) == 44
    assert told.err == ""


def test_certificate_tells_the_same_pin_again(settings: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["certificate", "--settings", str(settings)])
    first = capsys.readouterr().out
    main(["certificate", "--settings", str(settings)])
    assert capsys.readouterr().out == first


def test_certificate_warns_when_the_settings_pin_another_key(
    settings: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["certificate", "--settings", str(settings)])
    pin = capsys.readouterr().out.split()[-1]
    settings.write_text(settings.read_text() + agent("A" * 43 + "="))
    assert main(["certificate", "--settings", str(settings)]) == 0
    assert "do not name this key" in capsys.readouterr().err
    settings.write_text(settings.read_text().replace("A" * 43 + "=", pin))
    main(["certificate", "--settings", str(settings)])
    assert capsys.readouterr().err == ""


def test_certificate_reads_the_operator_s_own(settings: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["certificate", "--settings", str(settings)])
    pin = capsys.readouterr().out.split()[-1]
    state = settings.parent / "state"
    own = {"certificate_file": state / "gateway-certificate.pem", "key_file": state / "gateway-key.pem"}
    for name, file in own.items():
        own[name] = file.rename(settings.parent / file.name)
    lines = "".join(f'{name} = "{file}"\n' for name, file in own.items())
    settings.write_text(settings.read_text() + lines)
    assert main(["certificate", "--settings", str(settings)]) == 0
    assert capsys.readouterr().out.split()[-1] == pin
    assert list(state.iterdir()) == []


def test_a_certificate_that_cannot_be_read_is_named(settings: Path, capsys: pytest.CaptureFixture[str]) -> None:
    missing = settings.parent / "missing.pem"
    settings.write_text(settings.read_text() + f'certificate_file = "{missing}"\nkey_file = "{missing}"\n')
    assert main(["certificate", "--settings", str(settings)]) == 2
    where = "the gateway's certificate ([gateway] certificate_file)"
    assert f"{where}: {missing}: No such file or directory" in capsys.readouterr().err
    missing.write_text("no PEM")
    assert main(["certificate", "--settings", str(settings)]) == 2
    assert f"{where}: {missing} is none: " in capsys.readouterr().err


def test_a_state_folder_that_cannot_be_made_is_named_with_its_key(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    file = tmp_path / "fleet.toml"
    file.write_text(f'[gateway]\nstate_dir = "{tmp_path / "file" / "state"}"\n')
    assert main(["certificate", "--settings", str(file)]) == 2
    assert f"([gateway] state_dir): {tmp_path / 'file' / 'state'}: Not a directory" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["run", "once", "status", "nodes", "migrate", "certificate"])
def test_every_problem_with_the_settings_is_named_at_once(
    command: str, settings: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BC_FLEET_GATEWAY_LISTEN_PORT", "many")
    monkeypatch.setenv("BC_FLEET_STORE_COLOUR", "blue")
    settings.write_text(settings.read_text() + "colour = 1\n[reconcile]\nworkers = 0\n")
    assert main([command, "--settings", str(settings)]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    for problem in ("gateway.listen_port", "BC_FLEET_STORE_COLOUR", "gateway.colour", "reconcile.workers"):
        assert problem in told.err
    assert "Traceback" not in told.err


def test_in_the_journal_each_line_of_an_error_is_marked_as_one(
    settings: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.write_text("colour = 1\nshape = 2\n")
    with (tmp_path / "journal").open("w") as journal:
        file = os.fstat(journal.fileno())
        monkeypatch.setenv("JOURNAL_STREAM", f"{file.st_dev}:{file.st_ino}")
        monkeypatch.setattr("sys.stderr", journal)
        assert main(["run", "--settings", str(settings)]) == 2
    told = (tmp_path / "journal").read_text().splitlines()
    assert told[0] == "<3>bc-fleetd: the settings are not right:"
    assert len(told) == 3
    assert all(line.startswith("<3>") for line in told)


def test_settings_are_found_through_the_environment(
    settings: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BC_FLEET_SETTINGS", str(settings))
    assert main(["migrate"]) == 0
    assert (settings.parent / "fleet.db").exists()


def test_status_of_an_empty_fleet(settings: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["status", "--settings", str(settings)]) == 0
    assert "No pool has a substrate yet" in capsys.readouterr().out
    assert main(["status", "--json", "--settings", str(settings)]) == 0
    assert json.loads(capsys.readouterr().out) == {"substrates": [], "clusters": [], "self_check": []}


def test_status_lists_a_cluster_without_a_pool(settings: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = open_store(f"sqlite:///{settings.parent / 'fleet.db'}")
    account = rows.account()
    with store.write() as tx:
        fleet.put_account(tx, account)
        clusters.add_cluster(tx, rows.cluster(None, account_id=account.id, name="build"))
        clusters.add_cluster(tx, rows.cluster(None, account_id=account.id, name="gone", state=ClusterState.DELETED))
    store.close()
    assert main(["status", "--settings", str(settings)]) == 0
    shown = capsys.readouterr().out
    assert "build" in shown
    assert "gone" not in shown
    assert main(["status", "--json", "--settings", str(settings)]) == 0
    assert [cluster["name"] for cluster in json.loads(capsys.readouterr().out)["clusters"]] == ["build"]


@pytest.mark.parametrize("command", [["status"], ["events"], ["token", "list"], ["plan", "--no-refresh"]])
def test_a_command_that_only_reads_makes_no_database_and_says_that_there_is_none(
    command: list[str], settings: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    document = settings.parent / "fleet.json"
    document.write_text(json.dumps(example()))
    before = sorted(settings.parent.iterdir())
    arguments = [str(document)] if command[0] == "plan" else []
    assert main([*command, *arguments, "--settings", str(settings)]) == 0
    told = capsys.readouterr()
    assert f"there is no database yet (sqlite:///{settings.parent / 'fleet.db'})" in told.err
    assert "to create" in told.out or command[0] != "plan"
    assert sorted(settings.parent.iterdir()) == before


def test_the_doctor_says_that_there_is_no_database_yet(settings: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["doctor", "--settings", str(settings)])
    assert "database: there is no database yet: " in capsys.readouterr().out
    assert not (settings.parent / "fleet.db").exists()


def test_what_makes_a_database_logs_it(settings: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for _ in range(2):
        main(["once", "--settings", str(settings)])
    assert capsys.readouterr().err.count("a new, empty database was made: sqlite:///") == 1


def test_once_says_that_nothing_is_due(settings: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["once", "--settings", str(settings)]) == 0
    assert capsys.readouterr().out == "no pass is due\n"


def test_migrate_can_be_repeated(settings: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["migrate", "--settings", str(settings)]) == 0
    assert main(["migrate", "--settings", str(settings)]) == 0
    assert capsys.readouterr().out.splitlines() == [
        f"A new, empty database was made: sqlite:///{settings.parent / 'fleet.db'}",
        "The database now has this version's schema.",
        "The database already had this version's schema.",
    ]


def test_a_database_of_another_kind_is_refused_without_a_traceback(
    settings: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (settings.parent / "fleet.db").write_text("no database at all, but long enough to be looked at as one" * 20)
    for command in ("status", "once", "migrate", "run"):
        assert main([command, "--settings", str(settings)]) == 2
        assert "Traceback" not in capsys.readouterr().err


def test_an_address_that_is_taken_is_named(settings: Path, capsys: pytest.CaptureFixture[str]) -> None:
    settings.write_text(settings.read_text() + 'listen_host = "192.0.2.1"\n')
    assert main(["run", "--settings", str(settings)]) == 1
    told = capsys.readouterr()
    assert "the gateway cannot listen on 192.0.2.1:8443: Cannot assign requested address" in told.err
    assert "(set a listen_host of this host in [gateway] of the settings)" in told.err
    assert told.out == ""


def test_a_key_of_another_certificate_is_named(settings: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["certificate", "--settings", str(settings)])
    first = (settings.parent / "state").rename(settings.parent / "first")
    main(["certificate", "--settings", str(settings)])
    key_file = settings.parent / "state" / "gateway-key.pem"
    lines = f'certificate_file = "{first / "gateway-certificate.pem"}"\nkey_file = "{key_file}"\nlisten_port = 0\n'
    settings.write_text(settings.read_text() + lines)
    capsys.readouterr()
    assert main(["run", "--settings", str(settings)]) == 2
    told = capsys.readouterr().err
    assert f"its key {key_file} cannot be used: " in told
    assert "([gateway] certificate_file and key_file, " in told


def test_a_fault_is_told_by_kind_and_place_and_not_by_its_text(
    settings: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    main(["migrate", "--settings", str(settings)])
    text = "the-" + "secret"  # in two parts, because a stack shows the line that raised

    def fault(_session: object) -> None:
        raise ValueError(text)

    monkeypatch.setattr("ansible_collections.better_compute.fleet.daemon.fleet_now.list_substrates", fault)
    for debug in ([], ["--debug"]):
        assert main(["status", "--settings", str(settings), *debug]) == 1
        told = capsys.readouterr().err
        assert "error=ValueError" in told
        assert text not in told
        assert len(told.splitlines()) == 1


def test_what_a_service_manager_starts_says_all_in_the_log_where_that_is_json(
    settings: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["migrate", "--settings", str(settings)])
    capsys.readouterr()
    settings.write_text(settings.read_text() + 'listen_host = "192.0.2.1"\n[log]\nformat = "json"\n')
    assert main(["once", "--settings", str(settings)]) == 0
    told = capsys.readouterr()
    assert (told.out, json.loads(told.err)["message"]) == ("", "no pass is due")
    assert main(["run", "--settings", str(settings)]) == 1
    told = capsys.readouterr()
    last = json.loads(told.err.splitlines()[-1])
    assert (last["level"], last["logger"]) == ("error", "daemon")
    assert "the gateway cannot listen on 192.0.2.1:8443" in last["message"]
    settings.write_text(settings.read_text() + "[reconcile]\nworkers = 0\ncolour = 1\n")
    assert main(["run", "--settings", str(settings)]) == 2
    wrong = json.loads(capsys.readouterr().err)["message"]
    assert "reconcile.workers" in wrong
    assert "reconcile.colour" in wrong


def test_a_person_is_told_in_words_whatever_the_log_is(settings: Path, capsys: pytest.CaptureFixture[str]) -> None:
    settings.write_text(settings.read_text() + '[log]\nformat = "json"\nlevel = "error"\n')
    assert main(["migrate", "--settings", str(settings)]) == 0
    assert capsys.readouterr().out.endswith("The database now has this version's schema.\n")
    settings.write_text(settings.read_text() + "[reconcile]\nworkers = 0\n")
    assert main(["status", "--settings", str(settings)]) == 2
    told = capsys.readouterr().err
    assert told.startswith("bc-fleetd: the settings are not right:\n  reconcile.workers: ")
    assert told.endswith(f" (from {settings})\n")


def test_once_for_a_pool_that_nobody_knows_ends_with_two(settings: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["once", "--pool", "gpu", "--settings", str(settings)]) == 1
    assert "there is no database yet" in capsys.readouterr().err
    assert main(["status", "--settings", str(settings)]) == 0
    assert "there is no database yet" in capsys.readouterr().err  # and none was made
    assert main(["migrate", "--settings", str(settings)]) == 0
    assert main(["once", "--pool", "gpu", "--settings", str(settings)]) == 2
    assert "there is no pool 'gpu'" in capsys.readouterr().err


def test_the_version_is_the_collections_and_pythons(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--version"])
    assert ended.value.code == 0
    galaxy = yaml.safe_load((Path(__file__).parents[3] / "galaxy.yml").read_text())
    assert capsys.readouterr().out == f"bc-fleetd {galaxy['version']} (Python {platform.python_version()})\n"


@pytest.mark.parametrize(
    ("file", "content", "told"),
    [
        ("MANIFEST.json", '{"collection_info": {"version": "1.2.3"}}', "1.2.3"),
        ("galaxy.yml", "---\nname: fleet\nversion: 4.5.6\n", "4.5.6"),
        ("galaxy.yml", "version: '7.8.9'  # quoted\n", "7.8.9"),
    ],
)
def test_the_version_is_found_beside_the_code(file: str, content: str, told: str, tmp_path: Path) -> None:
    (tmp_path / file).write_text(content)
    assert collection_version(tmp_path) == told


@pytest.mark.parametrize("content", ["", "{}", "[]", '{"collection_info": 1}'])
def test_a_manifest_that_says_nothing_is_no_fault(content: str, tmp_path: Path) -> None:
    (tmp_path / "MANIFEST.json").write_text(content)
    (tmp_path / "galaxy.yml").write_text("version: 4.5.6\n")
    assert collection_version(tmp_path) == "4.5.6"


def test_arguments_that_make_no_sense_end_with_two(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in ([], ["sing"], ["run", "--loud"]):
        with pytest.raises(SystemExit) as ended:
            main(arguments)
        assert ended.value.code == 2
    assert "usage: bc-fleetd" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["run", "status", "plan", "events", "token list"])
def test_the_help_of_each_command_names_every_place_of_the_settings(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main([*command.split(), "--help"])
    told = " ".join(capsys.readouterr().out.split())
    assert "else what BC_FLEET_SETTINGS names, else /etc/better-compute/fleet.toml where there is one" in told
