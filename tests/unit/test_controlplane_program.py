# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the real control plane's programs are looked for, and when they are built anew. No Go is needed here."""

from __future__ import annotations

import shutil
import stat
from pathlib import Path

import pytest

from ansible_collections.better_compute.fleet.tests.support.controlplane import program

GO = """#!/bin/sh
# Stands in for Go: makes the file after -o, and counts.
echo built >>"{log}"
while [ "$1" != -o ]; do shift; done
{outcome}
"""


@pytest.fixture
def sources(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A copy of the Go module, an empty cache, and no KUBEBUILDER_ASSETS."""
    copy = tmp_path / "module"
    shutil.copytree(program.SOURCES, copy)
    monkeypatch.setattr(program, "SOURCES", copy)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv(program.ASSETS_VARIABLE, raising=False)
    return copy


def put_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, outcome: str = 'touch "$2"; chmod +x "$2"') -> Path:
    """Put a stand-in for Go on PATH; what it writes a line into for each build."""
    log = tmp_path / "builds"
    go = tmp_path / "bin" / "go"
    go.parent.mkdir()
    go.write_text(GO.format(log=log, outcome=outcome))
    go.chmod(go.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{go.parent}:/usr/bin:/bin")
    return log


def test_nothing_built_says_what_to_do(sources: Path) -> None:
    with pytest.raises(program.NoControlPlane, match="make controlplane"):
        program.find()


def test_it_is_built_once(sources: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = put_go(tmp_path, monkeypatch)
    folder = program.build()
    assert program.build() == program.find() == folder
    assert all((folder / name).exists() for name in program.PROGRAMS)
    assert log.read_text() == "built\n"


def test_another_version_is_another_build(sources: Path) -> None:
    before = program.built_folder()
    module = sources / "go.mod"
    module.write_text(module.read_text() + "\n// changed\n")
    assert program.built_folder() != before
    assert program.built_folder().name.startswith("v1.")


def test_a_build_that_fails_leaves_nothing_that_counts_as_one(
    sources: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_go(tmp_path, monkeypatch, outcome='touch "$2"; exit 1')
    with pytest.raises(program.NoControlPlane, match="failed"):
        program.build()
    with pytest.raises(program.NoControlPlane, match="make controlplane"):
        program.find()
    assert [path.name for path in program.built_folder().parent.iterdir()] == ["lock"]


def test_without_go_it_says_so(sources: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(program.NoControlPlane, match="no Go on PATH"):
        program.build()


def test_given_programs_are_taken_and_nothing_is_built(
    sources: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assets = tmp_path / "assets"
    assets.mkdir()
    for name in program.PROGRAMS:
        (assets / name).touch(mode=0o755)
    monkeypatch.setenv(program.ASSETS_VARIABLE, str(assets))
    assert program.build() == program.find() == assets


def test_given_programs_that_are_not_all_there_are_an_error(
    sources: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(program.ASSETS_VARIABLE, str(tmp_path))
    with pytest.raises(program.NoControlPlane, match="etcd, kube-apiserver, kube-controller-manager"):
        program.build()
