# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a module's start costs is what it names and loads: runs with nothing to do are kept small."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.better_compute.fleet.tests.support.life.world import document

_CHECKOUT = Path(__file__).resolve().parents[3]
_PACKAGE = "ansible_collections.better_compute.fleet"
_CORE = f"{_PACKAGE}.plugins.module_utils._core"
_HEAVY = ("boto3", "botocore", "kubernetes", "psycopg", "sqlalchemy.orm", "sqlalchemy.dialects.postgresql")

_PROGRAM = """
import importlib, json, sys
try:
    # By itself on the line: AnsibleModule takes what stands there for its arguments.
    importlib.import_module(sys.argv.pop()).main()
finally:
    print(json.dumps(sorted(sys.modules)), file=sys.stderr)
"""


def run(module: str, arguments: dict[str, Any], folder: Path) -> tuple[dict[str, Any], set[str]]:
    """A module's result in check mode, in a process of its own, and every Python module that was loaded for it."""
    given = {**arguments, "database_url": f"sqlite:///{folder}/fleet.db", "_ansible_check_mode": True}
    ran = subprocess.run(
        [sys.executable, "-c", _PROGRAM, f"{_PACKAGE}.plugins.modules.{module}"],
        input=json.dumps({"ANSIBLE_MODULE_ARGS": given}),
        capture_output=True,
        text=True,
        check=False,
    )
    return json.loads(ran.stdout), set(json.loads(ran.stderr.splitlines()[-1]))


def rooms(loaded: set[str]) -> set[str]:
    """The rooms of the core that were loaded."""
    return {name.removeprefix(f"{_CORE}.").split(".")[0] for name in loaded if name.startswith(f"{_CORE}.")}


def test_a_look_at_node_pools_loads_neither_drivers_nor_pydantic(tmp_path: Path) -> None:
    wanted = [{"name": "system", "machine_type": "m7i.large", "node_count": 1}]
    result, loaded = run("bc_nodepool_plan", {"pool": "nobody", "node_pools": wanted}, tmp_path)
    assert result["code"] == "NOT_FOUND", "it read the records"
    assert not loaded & {*_HEAVY, "pydantic"}
    assert not rooms(loaded) & {"providers", "cluster", "reconcile", "nodes", "booking", "planning"}


def test_a_plan_without_refresh_loads_neither_drivers_nor_what_runs_passes(tmp_path: Path) -> None:
    result, loaded = run("bc_fleet", {"config": document(), "refresh": False}, tmp_path)
    assert result["changed"], "it planned"
    assert not loaded & set(_HEAVY)
    assert not rooms(loaded) & {"providers", "cluster", "reconcile", "nodes", "booking"}


def test_a_look_at_clusters_loads_neither_drivers_nor_pydantic(tmp_path: Path) -> None:
    wanted = {"name": "web", "account": "nobodys", "location": "us-east-1"}
    result, loaded = run("bc_cluster", {"clusters": [wanted]}, tmp_path)
    assert result["code"] == "NOT_FOUND", "it read the records"
    assert not loaded & {*_HEAVY, "pydantic"}
    assert not rooms(loaded) & {"providers", "cluster", "reconcile", "nodes", "booking", "planning"}


@pytest.mark.parametrize("module", ["bc_node_info", "bc_reservation_info"])
def test_a_look_at_machines_and_bookings_loads_neither_drivers_nor_pydantic(module: str, tmp_path: Path) -> None:
    result, loaded = run(module, {"pool": "nobodys"}, tmp_path)
    assert result["code"] == "NOT_FOUND", "it read the records"
    assert not loaded & {*_HEAVY, "pydantic"}
    assert not rooms(loaded) & {"providers", "cluster", "reconcile", "nodes", "planning"}


def shipped(file: Path, seen: set[Path]) -> Iterator[Path]:
    """Every file of ours that Ansible ships with this one: all that it names, wherever in it, type checks too."""
    if file in seen:
        return
    seen.add(file)
    yield file
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = file.parents[node.level - 1].joinpath(*(node.module or "").split("."))
            named = [base, *(base / alias.name for alias in node.names)]
            for place in named:
                for found in (place.with_suffix(".py"), place / "__init__.py"):
                    if found.is_file():
                        yield from shipped(found, seen)


@pytest.mark.parametrize(
    "module",
    [
        "bc_cluster_info",
        "bc_node_info",
        "bc_nodepool_info",
        "bc_nodepool_plan",
        "bc_reservation",
        "bc_reservation_info",
    ],
)
def test_a_module_that_asks_no_provider_ships_no_driver_and_no_pass(module: str) -> None:
    files = {str(file) for file in shipped(_CHECKOUT / "plugins" / "modules" / f"{module}.py", set())}
    assert any("/_core/store/" in file for file in files)
    assert [file for file in files if "/providers/eks/" in file or "/reconcile/" in file or "/cluster/" in file] == []
