# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Timing by turns: what is compared is run alternately, so that a busy minute of the machine falls on both."""

from __future__ import annotations

import statistics
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

_PATIENCE_SECONDS: Final = 300
"""For one process: far more than any takes, so that a hang ends."""


class Failed(Exception):
    """What was to be measured did not do what it was started for: no value is to be had from it."""


def by_turns(contestants: Mapping[str, Callable[[], float]], *, rounds: int) -> dict[str, float]:
    """Run each contestant once in every round; the median of what each returned (seconds)."""
    taken: dict[str, list[float]] = {name: [] for name in contestants}
    for _round in range(rounds):
        for name, run in contestants.items():
            taken[name].append(run())
    return {name: statistics.median(seconds) for name, seconds in taken.items()}


def run_process(
    command: Sequence[str],
    *,
    environment: Mapping[str, str],
    folder: Path,
    sent: str = "",
    may_exit: Sequence[int] = (0,),
) -> tuple[float, str]:
    """Run a process to its end.

    Returns:
        Its wall time in seconds, and its standard output.

    Raises:
        Failed: it ended with another status; with the end of what it said.
    """
    began = time.perf_counter()
    done = subprocess.run(
        command,
        check=False,
        env=dict(environment),
        cwd=folder,
        input=sent,
        capture_output=True,
        text=True,
        timeout=_PATIENCE_SECONDS,
    )
    seconds = time.perf_counter() - began
    if done.returncode not in may_exit:
        told = (done.stdout + done.stderr)[-2000:]
        raise Failed(f"{Path(command[0]).name} ended with status {done.returncode}: {told}")
    return seconds, done.stdout
