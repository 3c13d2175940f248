# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""bc-fleetd plan: what bc_fleet would do, for people and for pipelines; it writes nothing."""

from __future__ import annotations

import io
import json
import os
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.better_compute.fleet.daemon.command_line import main
from ansible_collections.better_compute.fleet.plugins.module_utils._core.documents.load import parse_document
from ansible_collections.better_compute.fleet.plugins.module_utils._core.documents.settings import load_settings
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.findings import AGENT_MISSING
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations import fleet
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.session import open_session
from ansible_collections.better_compute.fleet.tests.support.fleet_documents import EXAMPLE, example, on_account, put

Printed = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A new database, and no other settings."""
    for name in [name for name in os.environ if name.startswith("BC_FLEET_")]:
        monkeypatch.delenv(name)
    url = f"sqlite:///{tmp_path / 'fleet.db'}"
    monkeypatch.setenv("BC_FLEET_STORE_DATABASE_URL", url)
    return url


def record(data: dict[str, Any]) -> None:
    """Apply a document, as bc_fleet does before its first pass."""
    with open_session(load_settings()) as session:
        fleet.apply_fleet(session, fleet.plan_fleet(session, parse_document(data), prune=False, refresh=False))


def written(data: dict[str, Any], tmp_path: Path) -> str:
    file = tmp_path / "fleet.json"
    file.write_text(json.dumps(data))
    return str(file)


def test_it_tells_what_would_be_made_and_records_nothing(capsys: Printed) -> None:
    for _time in range(2):
        assert main(["plan", "--no-refresh", "--json", str(EXAMPLE)]) == 0
        told = json.loads(capsys.readouterr().out)
        assert told["changed"] is True
        assert {change["kind"] for change in told["changes"]} == {"create"}


def test_a_person_reads_what_bc_fleet_tells(capsys: Printed) -> None:
    with open_session(load_settings()) as session:
        planned = fleet.plan_fleet(session, parse_document(example()), prune=False, refresh=False)
    assert main(["plan", "--no-refresh", str(EXAMPLE)]) == 0
    # These settings have no [agent].
    warning = f"Warning: pool gpu-fleet: {AGENT_MISSING}\n"
    assert capsys.readouterr() == (planned.plan.render() + warning, "")


def test_with_agent_settings_a_plan_has_nothing_to_warn_of(capsys: Printed, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BC_FLEET_AGENT_IMAGE", "registry.example/bcd:1")
    monkeypatch.setenv("BC_FLEET_AGENT_GATEWAY_URL", "https://fleet.example:8443")
    monkeypatch.setenv("BC_FLEET_AGENT_PINS", "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=")
    assert main(["plan", "--no-refresh", str(EXAMPLE)]) == 0
    assert "agent-missing" not in capsys.readouterr().out


def test_a_plan_that_leaves_no_substrate_asks_for_no_agent_settings(tmp_path: Path, capsys: Printed) -> None:
    record(example())
    file = written(put(example() | {"quotas": []}, "pools.0.policy", {}), tmp_path)
    for options in ((file,), ("--absent", "--prune", str(EXAMPLE))):
        assert main(["plan", "--no-refresh", "--json", *options]) == 0
        assert json.loads(capsys.readouterr().out)["warnings"] == []


def test_a_converged_document_changes_nothing(capsys: Printed) -> None:
    record(example())
    assert main(["plan", "--no-refresh", str(EXAMPLE)]) == 0
    assert capsys.readouterr().out.startswith("Fleet plan at serial 1: no changes\n")


def test_what_is_no_longer_declared_goes_only_with_prune(tmp_path: Path, capsys: Printed) -> None:
    record(example())
    without = written(example() | {"pools": [], "quotas": []}, tmp_path)
    for options, changed in (((), False), (("--prune",), True)):
        assert main(["plan", "--no-refresh", "--json", without, *options]) == 0
        assert json.loads(capsys.readouterr().out)["changed"] is changed


def test_absent_plans_the_end_of_what_the_document_names(capsys: Printed) -> None:
    record(example())
    assert main(["plan", "--no-refresh", "--json", "--absent", "--prune", str(EXAMPLE)]) == 0
    told = json.loads(capsys.readouterr().out)
    assert "delete" in {change["kind"] for change in told["changes"]}
    assert told["totals"]["create"] == 0


def test_what_cannot_be_made_ends_with_one(tmp_path: Path, capsys: Printed) -> None:
    record(example())
    data = example()
    data["pools"][0]["policy"]["substrate"]["flavors"][0]["machineType"] = "p4d.24xlarge"
    assert main(["plan", "--no-refresh", written(data, tmp_path)]) == 1
    assert "blocked" in capsys.readouterr().out


def test_an_adoption_is_told_as_one_and_one_that_another_pool_has_ends_with_one(
    tmp_path: Path, capsys: Printed
) -> None:
    data = put(example() | {"quotas": []}, "pools.0.policy.substrate.cluster", {"adopt": "us-east-1/prod"})
    assert main(["plan", "--no-refresh", written(data, tmp_path)]) == 0
    told = capsys.readouterr().out
    assert "adopt cluster us-east-1/prod: it is read, and never created, changed or deleted" in told
    assert "5 to create, 1 to adopt" in told
    record(data)
    assert main(["plan", "--no-refresh", written(put(data, "pools.0.name", "second"), tmp_path)]) == 1
    refused = capsys.readouterr()
    assert refused.out == ""
    assert "pool second is to adopt cluster us-east-1/prod, and one cluster backs one pool: it backs" in refused.err


def test_every_problem_of_a_document_is_a_line_with_file_and_path(tmp_path: Path, capsys: Printed) -> None:
    data = example()
    data["sites"][0]["kind"] = "private"
    data["quotas"][0]["pool"] = "gone"
    file = written(data, tmp_path)
    assert main(["plan", file]) == 1
    told = capsys.readouterr()
    assert told.out == ""
    assert f"{file}: sites[0].kind: expected 'shared'" in told.err
    assert f'{file}: quotas[0].pool: there is no pool "gone"' in told.err


def test_a_file_that_cannot_be_read_ends_with_two(tmp_path: Path, capsys: Printed) -> None:
    assert main(["plan", str(tmp_path / "none.json")]) == 2
    assert capsys.readouterr().err.endswith("none.json: cannot be read: No such file or directory\n")


def test_what_a_plan_refuses_is_told_of_the_document_and_not_of_the_settings(
    capsys: Printed, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = example()
    flavors = data["pools"][0]["policy"]["substrate"]["flavors"]
    flavors[:] = [flavors[0] | {"name": f"f{number}"} for number in range(11)]
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(json.dumps(data).encode())))
    assert main(["plan", "--no-refresh", "-"]) == 1
    nothing_recorded, *told = capsys.readouterr().err.splitlines()
    assert nothing_recorded.startswith("bc-fleetd: there is no database yet")
    assert told == [
        "bc-fleetd: standard input: pools[0].policy.substrate.flavors: pool gpu-fleet: 11 node pools; "
        "a cluster has at most 10"
    ]
    name = "a-flavor-whose-name-is-longer-than-what-google-takes"
    data = on_account("gcp", "us-central1", {"name": name})
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(json.dumps(data).encode())))
    assert main(["plan", "--no-refresh", "-"]) == 1
    told = capsys.readouterr().err.splitlines()
    assert told[0] == "bc-fleetd: the document is not valid:"
    assert told[1].startswith("standard input: pools[0].policy.substrate.flavors[0].name: ")


def test_standard_input_is_taken(capsys: Printed, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(EXAMPLE.read_bytes())))
    assert main(["plan", "--no-refresh", "-"]) == 0
    assert capsys.readouterr().out.startswith("Fleet plan at serial 0")


def test_an_account_that_cannot_be_asked_is_told_of(capsys: Printed, monkeypatch: pytest.MonkeyPatch) -> None:
    record(example())
    for name, value in {
        "AWS_ENDPOINT_URL": "http://127.0.0.1:9",
        "AWS_ACCESS_KEY_ID": "nobody",
        "AWS_SECRET_ACCESS_KEY": "nothing",
        "AWS_MAX_ATTEMPTS": "1",
    }.items():
        monkeypatch.setenv(name, value)
    status = main(["plan", str(EXAMPLE)])
    told = capsys.readouterr()
    assert status == 0
    assert "Warning: " in told.out
