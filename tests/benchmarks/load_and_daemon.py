# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The daemon as a process of its own with its processor time and memory, and the load beside it."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Final

from .load_machine import Gateway
from .load_process import Measured, Phase
from .timing import Failed

_PACKAGE: Final = "ansible_collections.better_compute.fleet"
_SAYS: Final = re.compile(r"https://127\.0\.0\.1:(\d+) \(pin ([^)]+)\)")
_GOODBYE_SECONDS: Final = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Daemon:
    """A running `bc-fleetd run`."""

    pid: int
    gateway: Gateway

    def processor_seconds(self) -> float:
        """Of all its threads so far."""
        ticks = Path(f"/proc/{self.pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
        return (int(ticks[11]) + int(ticks[12])) / os.sysconf("SC_CLK_TCK")

    def resident_bytes(self) -> int:
        """What it holds of the machine's memory."""
        return int(Path(f"/proc/{self.pid}/statm").read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")


@contextmanager
def running_daemon(environment: Mapping[str, str], *, log: Path) -> Iterator[Daemon]:
    """Start it, and stop it with the block as a service manager does.

    Raises:
        Failed: it does not come up.
    """
    command = [sys.executable, "-m", f"{_PACKAGE}.daemon", "run"]
    with (
        log.open("wb") as errors,
        subprocess.Popen(
            command, env=dict(environment), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors, text=True
        ) as process,
    ):
        assert process.stdout is not None
        try:
            said = _SAYS.search(process.stdout.readline())
            if said is None:
                raise Failed(f"the daemon did not start: {log.read_text(errors='replace')[-2000:]}")
            yield Daemon(pid=process.pid, gateway=Gateway(port=int(said[1]), pin=said[2]))
            process.send_signal(signal.SIGTERM)
            process.wait(timeout=_GOODBYE_SECONDS)
        finally:
            process.kill()


class Load:
    """The load's process."""

    def __init__(self, sent: IO[str], told: IO[str]) -> None:
        """Use :func:`running_load`."""
        self._sent = sent
        self._told = told

    def run(self, phase: Phase) -> Measured:
        """Have it do this, to its end.

        Raises:
            Failed: it ended itself instead.
        """
        self._sent.write(json.dumps(asdict(phase)) + "\n")
        self._sent.flush()
        line = self._told.readline()
        if not line:
            raise Failed("the load's process ended early")
        return Measured(**json.loads(line))


@contextmanager
def running_load(environment: Mapping[str, str]) -> Iterator[Load]:
    """Start it; it ends with the block, and with this process."""
    command = [sys.executable, "-m", f"{_PACKAGE}.tests.benchmarks.load_process"]
    with subprocess.Popen(
        command, env=dict(environment), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            yield Load(process.stdin, process.stdout)
            process.stdin.close()
            process.wait(timeout=_GOODBYE_SECONDS)
        finally:
            process.kill()
