# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""No result holds a secret, a traceback or the document again; a missing library is one sentence."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest

from ansible_collections.better_compute.fleet.tests.support.life.world import document
from ansible_collections.better_compute.fleet.tests.support.module_runs import Modules


def test_no_result_holds_a_credential_or_a_token(modules: Modules) -> None:
    modules.run("bc_fleet", config=document())
    modules.fleet.live(until=lambda: modules.fleet.view().record.nodes_listed > 0, minutes=10)
    modules.run("bc_fleet", config=document())
    modules.run("bc_fleet_info")
    modules.run("bc_substrate_info", pool="gpu-fleet")
    modules.run(
        "bc_nodepool", pool="gpu-fleet", node_pools=[{"name": "system", "machine_type": "m7i.large", "node_count": 1}]
    )
    modules.run("bc_reservation", pool="gpu-fleet", name="one", gpus=1)
    modules.run("bc_reservation_info")
    told = "".join(modules.told)
    assert "gpu-fleet" in told
    assert modules.fleet.scene.environment["AWS_SECRET_ACCESS_KEY"] not in told
    for mark in ("k8s-aws-v1.", "eyJ", "BEGIN CERTIFICATE", "token_hash"):
        assert mark not in told


def test_the_database_address_is_told_by_no_module(modules: Modules) -> None:
    url = modules.fleet.scene.database_url
    result = modules.run("bc_fleet_info", database_url=url)
    assert not result["failed"]
    assert result["invocation"]["module_args"]["database_url"] == "VALUE_SPECIFIED_IN_NO_LOG_PARAMETER"
    refused = modules.run("bc_fleet_info", database_url="postgresql+psycopg://fleet:s3cr3t@127.0.0.1:1/fleet")
    assert refused["failed"]
    assert "s3cr3t" not in "".join(modules.told)
    assert url not in "".join(modules.told)


def test_the_document_is_not_told_back(modules: Modules) -> None:
    result = modules.run("bc_fleet", check=True, config=document())
    assert result["invocation"]["module_args"]["config"] is None


def test_a_secret_in_a_document_is_refused_and_not_repeated(modules: Modules) -> None:
    bad = document()
    bad["providerAccounts"][0]["config"]["secretAccessKey"] = "wJalrXUtnFEMI"
    refused = modules.run("bc_fleet", config=bad)
    assert refused["problems"][0]["path"] == "providerAccounts[0].config.secretAccessKey"
    assert "wJalrXUtnFEMI" not in json.dumps(refused)


@pytest.mark.parametrize(
    ("imported", "library", "arguments"),
    [
        ("sqlalchemy", "sqlalchemy", {}),
        ("boto3", "boto3", {}),
        ("kubernetes", "kubernetes", {}),
        ("boto3", "boto3", {"refresh": False}),
        ("psycopg", "psycopg", {"database_url": "postgresql+psycopg://fleet@127.0.0.1:1/fleet"}),
    ],
)
def test_a_missing_library_is_named_as_ansible_does(
    modules: Modules, monkeypatch: pytest.MonkeyPatch, imported: str, library: str, arguments: dict[str, Any]
) -> None:
    for name in [imported, *(known for known in sys.modules if known.startswith(f"{imported}."))]:
        monkeypatch.setitem(sys.modules, name, None)
    refused = modules.run("bc_fleet", config=document(), **arguments)
    assert refused["failed"]
    assert refused["msg"].startswith(f"Failed to import the required Python library ({library}) on ")
    assert "exception" not in refused
    monkeypatch.undo()
    assert modules.writes() == 0


def test_nothing_is_declared_before_the_kubernetes_package_is_there(
    modules: Modules, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        for name in [known for known in sys.modules if known.partition(".")[0] == "kubernetes"] or ["kubernetes"]:
            patch.setitem(sys.modules, name, None)
        modules.run("bc_fleet", config=document())
    assert modules.run("bc_fleet_info")["pools"] == []


def test_a_fault_of_ours_is_one_sentence_with_its_place_and_without_its_text(
    modules: Modules, monkeypatch: pytest.MonkeyPatch
) -> None:
    def break_down(*_: object, **__: object) -> None:
        raise ZeroDivisionError("s3cr3t")

    at_hand = modules.fleet.session
    object.__setattr__(at_hand, "open_driver", break_down)
    refused = modules.run("bc_fleet", config=document())
    assert refused["msg"].startswith("A fault in better_compute.fleet: ZeroDivisionError at ")
    assert "s3cr3t" not in "".join(modules.told)
    assert "Traceback" not in "".join(modules.told)
