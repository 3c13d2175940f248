# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""bcd's own package: what it needs, and that its image holds that and nothing that was not looked at."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

AGENT = Path(__file__).parents[3] / "agent"

LOCK = (AGENT / "requirements.lock").read_text()
CONTAINERFILE = (AGENT / "Containerfile").read_text()
PROJECT = tomllib.loads((AGENT / "pyproject.toml").read_text())["project"]


def test_bcd_needs_four_packages_and_the_image_nvmls_binding() -> None:
    needs = [need.partition(">=")[0] for need in PROJECT["dependencies"]]
    assert needs == ["httpcore[asyncio]", "cryptography", "grpcio", "protobuf"]
    assert [need.partition(">=")[0] for need in PROJECT["optional-dependencies"]["nvml"]] == ["nvidia-ml-py"]


def test_the_lock_pins_every_package_by_hash_and_names_no_index() -> None:
    entries = re.split(r"\n(?=[a-z])", re.sub(r"^#.*\n", "", LOCK, flags=re.MULTILINE))
    assert {"httpcore", "cryptography", "grpcio", "protobuf", "nvidia-ml-py"} <= {
        entry.partition("==")[0] for entry in entries
    }
    assert [entry for entry in entries if "--hash=sha256:" not in entry] == []
    assert "://" not in LOCK
    assert "--index" not in LOCK


def test_the_image_installs_only_what_the_lock_names() -> None:
    installs = re.findall(r"pip install (.*?)\\?\n", CONTAINERFILE)
    assert len(installs) == 1
    assert "--require-hashes -r /tmp/requirements.lock" in installs[0]
    assert "--only-binary :all:" in installs[0]
    assert re.findall(r"^FROM (\S+)", CONTAINERFILE, flags=re.MULTILINE) == ["python:${PYTHON}-slim-trixie"] * 2


def test_the_images_python_is_one_that_bcd_supports() -> None:
    (version,) = re.findall(r"^ARG PYTHON=(\d+)\.(\d+)$", CONTAINERFILE, flags=re.MULTILINE)
    assert tuple(map(int, version)) >= (3, 11)
    assert PROJECT["requires-python"] == ">=3.11"


def test_the_package_names_every_folder_of_bcds_code() -> None:
    setuptools = tomllib.loads((AGENT / "pyproject.toml").read_text())["tool"]["setuptools"]
    folders = {file.parent.relative_to(AGENT) for file in (AGENT / "bcd").rglob("*.py")}
    assert setuptools["packages"] == sorted(".".join(folder.parts) for folder in folders)
