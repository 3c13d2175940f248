# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Programs that a test runs to their end, as a person would."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path


def run_to_end(
    command: Sequence[str | Path], *, folder: Path, environment: Mapping[str, str], status: int, seconds: float
) -> str:
    """Run a program in a folder to its end, which has this exit status; what it printed, errors too."""
    done = subprocess.run(
        command,
        cwd=folder,
        env=environment,
        check=False,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=seconds,
    )
    assert done.returncode == status, done.stdout
    return done.stdout
