# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""House rules that no linter knows: every file says what it is for, rooms have names that mean something."""

from __future__ import annotations

import ast
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml

from ansible_collections.better_compute.fleet.plugins.doc_fragments.fleet import ModuleDocFragment

CHECKOUT = Path(__file__).resolve().parents[2]
HEADER = (
    "# Copyright (c) 2026 better_compute.fleet contributors\n"
    "# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)\n"
    "# SPDX-License-Identifier: GPL-3.0-or-later\n"
)
NAMES_THAT_SAY_NOTHING = {"utils", "util", "helpers", "helper", "common", "manager", "misc"}
# Folders whose packages import-linter and mypy walk: a package without an __init__.py would be passed over in silence.
CODE_ROOTS = ("plugins/module_utils/_core", "daemon", "emulators", "quickstart", "agent/bcd")
LONGEST_FILE_LINES = 400


def tracked_python_files() -> list[str]:
    """Every .py file in git's index that is still there, relative to the checkout."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--", "*.py"], cwd=CHECKOUT, check=True, capture_output=True, text=True
    ).stdout
    return sorted(path for path in listed.split("\0") if path and (CHECKOUT / path).exists())


@pytest.fixture(scope="module")
def sources() -> dict[str, str]:
    return {path: (CHECKOUT / path).read_text(encoding="utf-8") for path in tracked_python_files()}


def test_every_python_file_carries_the_licence(sources: dict[str, str]) -> None:
    without = [path for path, text in sources.items() if text and HEADER not in text[: len(HEADER) + 40]]
    assert without == []


def test_every_python_file_says_what_it_is_for(sources: dict[str, str]) -> None:
    # A module of Ansible's says it in DOCUMENTATION, which ansible-test looks at.
    silent = [
        path
        for path, text in sources.items()
        if text and not path.startswith("plugins/modules/") and not ast.get_docstring(ast.parse(text))
    ]
    assert silent == []


def test_no_file_or_folder_has_a_name_that_says_nothing(sources: dict[str, str]) -> None:
    nothing = {path for path in sources for part in Path(path).parts if Path(part).stem in NAMES_THAT_SAY_NOTHING}
    assert nothing == set()


def test_every_folder_of_code_is_a_package_that_the_linters_see(sources: dict[str, str]) -> None:
    folders = {Path(path).parent for path in sources if path.startswith(tuple(f"{root}/" for root in CODE_ROOTS))}
    assert [folder for folder in sorted(folders) if f"{folder}/__init__.py" not in sources] == []


def test_no_file_is_too_long_to_read_in_one_go(sources: dict[str, str]) -> None:
    lengths = {path: text.count("\n") for path, text in sources.items()}
    too_long = {path: lines for path, lines in lengths.items() if lines > LONGEST_FILE_LINES}
    assert too_long == {}


def test_collection_and_wheel_have_one_version() -> None:
    galaxy = yaml.safe_load((CHECKOUT / "galaxy.yml").read_text(encoding="utf-8"))
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))
    assert galaxy["version"] == project["project"]["version"]


def test_the_action_group_names_every_module() -> None:
    runtime = yaml.safe_load((CHECKOUT / "meta" / "runtime.yml").read_text(encoding="utf-8"))
    modules = sorted(Path(path).stem for path in tracked_python_files() if path.startswith("plugins/modules/bc_"))
    assert sorted(runtime["action_groups"]["fleet"]) == modules


def requirements(path: str) -> set[str]:
    """The lines of a requirements file, without its comments."""
    lines = (CHECKOUT / path).read_text(encoding="utf-8").splitlines()
    return {line.split("#")[0].strip() for line in lines} - {""}


def test_what_modules_and_the_wheel_need_is_what_the_lock_was_made_from() -> None:
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    runtime = requirements("requirements/runtime.in")
    assert requirements("meta/ee-requirements.txt") - runtime == set()
    assert set(project["dependencies"]) - runtime == set()


def test_the_modules_pages_name_every_library_that_modules_need_and_its_oldest_version() -> None:
    told = yaml.safe_load(ModuleDocFragment.DOCUMENTATION)["requirements"]
    assert {line.partition(" (")[0].replace(" ", "") for line in told} == requirements("meta/ee-requirements.txt")
    assert len(told) == len(set(told))
