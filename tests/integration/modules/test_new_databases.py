# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A module whose database is not there: whoever reads makes none, whoever writes says that it made one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ansible_collections.better_compute.fleet.tests.support.life.world import document

from .conftest import MakeModules

READERS: list[tuple[str, dict[str, Any]]] = [
    ("bc_fleet_info", {}),
    ("bc_substrate_info", {}),
    ("bc_cluster_info", {}),
    ("bc_nodepool_info", {}),
]


@pytest.fixture
def missing(tmp_path: Path) -> Path:
    """Where a database is looked for, and none is."""
    folder = tmp_path / "srv"
    folder.mkdir()
    return folder / "fleet.db"


@pytest.mark.parametrize(("module", "arguments"), READERS)
def test_an_info_module_without_a_database_tells_of_an_empty_fleet_and_warns(
    make_modules: MakeModules, missing: Path, module: str, arguments: dict[str, Any]
) -> None:
    result = make_modules().run(module, database_url=f"sqlite:///{missing}", **arguments)
    assert not result["failed"]
    warnings = result.pop("warnings")
    assert not any(value for value in result.values() if isinstance(value, list))
    assert f"there is no database yet (sqlite:///{missing})" in str(warnings)
    assert list(missing.parent.iterdir()) == []


def test_check_mode_plans_a_first_fleet_and_makes_no_database(make_modules: MakeModules, missing: Path) -> None:
    result = make_modules().run("bc_fleet", check=True, config=document(), database_url=f"sqlite:///{missing}")
    assert (result["failed"], result["changed"]) == (False, True)
    assert f"there is no database yet (sqlite:///{missing})" in str(result["warnings"])
    assert list(missing.parent.iterdir()) == []


def test_a_run_that_makes_the_database_says_so_and_the_next_does_not(make_modules: MakeModules, missing: Path) -> None:
    modules = make_modules()
    call: dict[str, Any] = {"config": document(), "database_url": f"sqlite:///{missing}", "wait": False}
    told = f"a new, empty database was made: sqlite:///{missing}. Is the fleet recorded elsewhere? See database_url"
    assert str(modules.run("bc_fleet", **call)["warnings"]).count(told) == 1
    # In a test's process warnings pile up.
    assert str(modules.run("bc_fleet", **call)["warnings"]).count(told) == 1


def test_a_misspelled_folder_is_not_made(make_modules: MakeModules, missing: Path) -> None:
    url = f"sqlite:///{missing.parent}/misspelled/fleet.db"
    result = make_modules().run("bc_fleet", config=document(), database_url=url)
    assert result["failed"]
    assert "there is no folder" in result["msg"]
    assert list(missing.parent.iterdir()) == []


def test_a_relative_path_is_refused_with_what_to_write(make_modules: MakeModules) -> None:
    result = make_modules().run("bc_fleet_info", database_url="sqlite:///fleet.db")
    assert result["failed"]
    (problem,) = result["problems"]
    assert problem["path"] == "store.database_url"
    assert "sqlite:////var/lib/better-compute/fleet.db" in problem["message"]
