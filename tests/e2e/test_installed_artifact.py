# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is released, installed into empty folders and used without the checkout: the collection, and the wheel.

The processes of the product run in an environment that has the libraries and does not find the checkout. Only the
emulated AWS beside them is the checkout's.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from ansible_collections.better_compute.fleet.tests.support.programs import run_to_end
from ansible_collections.better_compute.fleet.tests.support.tree_copy import (
    CHECKOUT,
    build_collection,
    copy_tree,
    environment_without_checkout,
)

pytestmark = pytest.mark.e2e

MODULES = sorted(path.stem for path in (CHECKOUT / "plugins" / "modules").glob("bc_*.py"))
SETTINGS = {
    "BC_FLEET_AGENT_IMAGE": "registry.example/bcd:1",
    "BC_FLEET_AGENT_GATEWAY_URL": "https://127.0.0.1:9443",
    "BC_FLEET_AGENT_PINS": "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",
    "BC_FLEET_RECONCILE_CONVERGING_SECONDS": "1",
    "BC_FLEET_RECONCILE_DELETING_SECONDS": "1",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Newcomer:
    """Somebody with an installed product, in a folder with nothing in it.

    Attributes:
        programs: the environment's folder of programs.
        folder: where everything is run.
        database: the fleet's records, a SQLite file.
    """

    programs: Path
    folder: Path
    database: Path
    environment: dict[str, str] = field(repr=False)

    def run(self, program: str, *arguments: str, status: int = 0) -> str:
        """Run a program of the environment to its end, which has this exit status; what it printed."""
        return run_to_end(
            [self.programs / program, *arguments],
            folder=self.folder,
            environment=self.environment,
            status=status,
            seconds=120,
        )

    def module(self, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """An ad-hoc run; the module's result."""
        module = f"better_compute.fleet.{name}"
        given = ("-a", json.dumps(arguments)) if arguments else ()
        printed = self.run("ansible", "localhost", "-m", module, *given)
        result: dict[str, Any] = json.loads(printed[printed.index("=> {") + 3 :])
        return result


def newcomer(tmp_path: Path, programs: Path, collections: Path | None) -> Newcomer:
    """A newcomer whose environment names no folder of the checkout."""
    ours = ("AWS_", "BC_FLEET_", "ANSIBLE_", "PYTHON", "VIRTUAL_ENV")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    (tmp_path / "desk").mkdir()
    database = tmp_path / "fleet.db"
    environment = {
        **kept,
        **SETTINGS,
        "PATH": f"{programs}:/usr/bin:/bin",
        "ANSIBLE_HOME": str(tmp_path / "ansible"),
        "ANSIBLE_NOCOLOR": "true",
        "BC_FLEET_STORE_DATABASE_URL": f"sqlite:///{database}",
        **({"ANSIBLE_COLLECTIONS_PATH": str(collections), "PYTHONPATH": str(collections)} if collections else {}),
    }
    return Newcomer(programs=programs, folder=tmp_path / "desk", database=database, environment=environment)


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The checkout's files, and some of what work leaves among them."""
    into = tmp_path_factory.mktemp("tree")
    copy_tree(into)
    left = (
        ".venv/bin",
        ".mypy_cache",
        ".hypothesis",
        ".ansible",
        "build/sanity",
        "dist",
        "plugins/modules/__pycache__",
    )
    for folder in left:
        (into / folder).mkdir(parents=True)
        (into / folder / "left.pyc").touch()
    (into / "better_compute-fleet-0.0.9.tar.gz").touch()
    return into


@pytest.fixture(scope="module")
def tarball(tree: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_collection(tree, tmp_path_factory.mktemp("built"))


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return environment_without_checkout(tmp_path_factory.mktemp("environment"))


@pytest.fixture
def at_desk(tmp_path: Path, tarball: Path, programs: Path) -> Newcomer:
    """The collection installed into an empty folder, offline."""
    installed = tmp_path / "installed"
    person = newcomer(tmp_path, programs, installed)
    person.run("ansible-galaxy", "collection", "install", str(tarball), "-p", str(installed), "--offline")
    return person


@pytest.fixture
def with_aws(at_desk: Newcomer) -> Iterator[Newcomer]:
    """The same, with an emulated AWS in a hurry."""
    command = [sys.executable, "-m", "ansible_collections.better_compute.fleet.emulators"]
    with subprocess.Popen(
        [*command, "--haste", "180", "--while-stdin-is-open"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        aws = json.loads(process.stdout.readline())["aws"]
        yield replace(
            at_desk,
            environment={
                **at_desk.environment,
                "AWS_ENDPOINT_URL": aws["endpoint_url"],
                "AWS_ACCESS_KEY_ID": aws["access_key_id"],
                "AWS_SECRET_ACCESS_KEY": aws["secret_access_key"],
            },
        )
        process.communicate(timeout=20)


def collection(person: Newcomer) -> Path:
    """Where the installed collection is."""
    return Path(person.environment["ANSIBLE_COLLECTIONS_PATH"]) / "ansible_collections" / "better_compute" / "fleet"


def test_the_tarball_holds_the_collection_and_nothing_of_how_it_is_made(tarball: Path) -> None:
    with tarfile.open(tarball) as archive:
        names = [member.name for member in archive]
        files = [member.name for member in archive if member.isfile()]
    parts = {"/".join(name.split("/")[:2]) if "/" in name else name for name in files}
    whole = ("plugins/", "daemon/", "roles/", "examples/", "docs/", "changelogs/")
    assert {part for part in parts if not part.startswith(whole)} == {
        "FILES.json",
        "LICENSE",
        "MANIFEST.json",
        "README.md",
        "meta/ee-requirements.txt",
        "meta/execution-environment.yml",
        "meta/runtime.yml",
        "playbooks/fleet.yml",
        "pyproject.toml",
        "tests/config.yml",
    }
    assert [name for name in names if name.endswith((".pyc", "__pycache__", ".tar.gz")) or "/." in name] == []


def test_the_checkout_is_found_by_no_process_of_this_environment(at_desk: Newcomer) -> None:
    program = "import ansible_collections as found; print(*found.__path__)"
    assert at_desk.run("python", "-c", program).split() == [str(collection(at_desk).parents[1])]
    at_desk.environment.pop("PYTHONPATH")
    assert "No module named 'ansible_collections'" in at_desk.run("python", "-c", program, status=1)


def test_the_playbook_by_its_name_converges_a_newcomers_file_and_then_changes_nothing(with_aws: Newcomer) -> None:
    shutil.copy(collection(with_aws) / "examples" / "fleet-aws.json", with_aws.folder / "fleet.json")
    playbook = ("ansible-playbook", "better_compute.fleet.fleet", "-e", "src=fleet.json")
    planned = with_aws.run(*playbook, "--check", "--diff")
    assert "Fleet plan at serial 0: 7 to create" in planned
    first = with_aws.run(*playbook, "-vvv")
    assert f"Using module file {collection(with_aws)}/plugins/modules/bc_fleet.py" in first
    assert str(CHECKOUT / "build" / "ansible_collections") not in first
    assert str(CHECKOUT / "plugins") not in first
    assert "Fleet plan at serial 0: 7 to create" in first
    assert "gpu-fleet is ready: " in first
    assert "changed=1" in first
    second = with_aws.run(*playbook)
    assert "Fleet plan at serial 1: no changes" in second
    assert "changed=0" in second

    (pool,) = with_aws.module("bc_fleet_info", {})["pools"]
    assert [(one["name"], one["state"]) for one in pool["node_pools"]] == [("h100", "ready"), ("h100-spot", "ready")]
    (substrate,) = with_aws.module("bc_substrate_info", {"pool": "gpu-fleet"})["substrates"]
    assert substrate["state"] == "ready"
    standing = with_aws.run("ansible", "localhost", "-m", "better_compute.fleet.bc_substrate", "-a", "pool=gpu-fleet")
    assert '"msg": "pool gpu-fleet: ready, ' in standing
    beside = [{"name": name, "machine_type": "m7i.large", "node_count": 1} for name in ("system", "build")]
    made = with_aws.module("bc_nodepool", {"pool": "gpu-fleet", "node_pools": beside})
    assert {one["name"]: one["state"] for one in made["node_pools"]} == {"system": "ready", "build": "ready"}
    waiting = with_aws.module("bc_reservation", {"name": "first", "pool": "gpu-fleet", "gpus": 1})["reservation"]
    assert waiting["state"] == "pending"

    (with_aws.folder / "none.json").write_text('{"version": 1, "pools": []}')
    gone = with_aws.run("ansible-playbook", "better_compute.fleet.fleet", "-e", "src=none.json", "--check")
    assert "kept" in gone


def test_a_playbook_without_a_document_says_which_words_are_missing(at_desk: Newcomer) -> None:
    assert "Name the document: -e src=fleet.json" in at_desk.run(
        "ansible-playbook", "better_compute.fleet.fleet", status=2
    )


def test_every_module_has_its_page(at_desk: Newcomer) -> None:
    listed = json.loads(at_desk.run("ansible-doc", "--list", "--json", "better_compute.fleet"))
    assert sorted(listed) == [f"better_compute.fleet.{name}" for name in MODULES]
    pages = json.loads(at_desk.run("ansible-doc", "--json", "-t", "module", *listed))
    for name, page in pages.items():
        assert page["doc"]["filename"].startswith(str(collection(at_desk))), name
        assert any(name in task for task in yaml.safe_load(page["examples"])), name
        assert page["return"], name


def test_the_installed_collection_builds_the_same_wheel_as_the_checkout(
    at_desk: Newcomer, tree: Path, tmp_path: Path
) -> None:
    def files_of(source: Path, folder: str) -> set[str]:
        pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "wheel", "--quiet", "--no-index"]
        command = [*pip, "--no-deps", "--no-build-isolation", "-w", str(tmp_path / folder), str(source)]
        subprocess.run(command, check=True)
        (wheel,) = (tmp_path / folder).glob("*.whl")
        return set(zipfile.ZipFile(wheel).namelist())

    # Galaxy puts a manifest in the place of galaxy.yml.
    assert files_of(tree, "checkout") - files_of(collection(at_desk), "installed") == {
        "ansible_collections/better_compute/fleet/galaxy.yml"
    }


def test_the_wheel_alone_gives_bc_fleetd_and_the_modules(tmp_path: Path, tree: Path) -> None:
    programs = environment_without_checkout(tmp_path / "environment")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    offline = ["--quiet", "--no-index", "--no-deps"]
    wheels = tmp_path / "wheels"
    subprocess.run([*pip, "wheel", *offline, "--no-build-isolation", "-w", wheels, tree], check=True)
    (wheel,) = wheels.glob("*.whl")
    subprocess.run([*pip, "--python", programs / "python", "install", *offline, wheel], check=True)

    person = newcomer(tmp_path, programs, None)
    assert "No pool has a substrate yet" in person.run("bc-fleetd", "status")
    assert person.module("bc_fleet_info", {})["pools"] == []
    program = "import ansible_collections.better_compute.fleet.daemon as found; print(found.__file__)"
    assert person.run("python", "-c", program).startswith(str(tmp_path))
