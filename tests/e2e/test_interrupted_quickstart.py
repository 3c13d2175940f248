# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The quickstart when it is interrupted: what it started is gone before it ends."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.e2e
def test_an_interrupted_quickstart_stops_all_that_it_started(tmp_path: Path) -> None:
    story = subprocess.Popen(
        [sys.executable, "-m", "ansible_collections.better_compute.fleet.quickstart", "--into", str(tmp_path)],
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert story.stdout is not None
    told = ""
    while "--check" not in told:  # the emulated cloud and bc-fleetd answer, and Ansible is under way
        line = story.stdout.readline()
        assert line, f"the quickstart ended early: {told}"
        told += line
    story.send_signal(signal.SIGINT)
    rest = story.communicate(timeout=60)[0]

    assert story.returncode == 130
    assert "interrupted" in rest
    assert not _processes_that_name(tmp_path)
    assert "bc-fleetd has stopped" in (tmp_path / "quickstart" / "daemon.log").read_text()


def _processes_that_name(folder: Path) -> list[str]:
    """Processes whose environment or command names the folder: everything that the quickstart starts does."""
    found = []
    for process in Path("/proc").iterdir():
        if re.fullmatch(r"\d+", process.name):
            try:
                said = (process / "environ").read_bytes() + (process / "cmdline").read_bytes()
            except (FileNotFoundError, ProcessLookupError, PermissionError):
                continue
            if str(folder).encode() in said:
                found.append(process.name)
    return found
