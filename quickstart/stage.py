# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The stage: a folder with settings, the emulated world and bc-fleetd as processes, all stopped at the end.

Everything it starts ends with it, also when it fails or is interrupted; processes are ended by their own id only.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from . import clouds
from .processes import Interrupts, await_ends, descendants

_PACKAGE = "ansible_collections.better_compute.fleet"

_HASTE = 180
"""The emulated providers are so many times as fast as real ones: a cluster in three seconds instead of nine minutes."""

_GOODBYE_SECONDS = 15
"""For bc-fleetd to give its leases back: it promises ten seconds."""

_SETTINGS = """\
# Written by the quickstart. A real deployment's file has the same sections: see README.md.
operator = "quickstart"

[store]
database_url = "sqlite:///{database}"

[gateway]
listen_host = "127.0.0.1"
listen_port = {port}
state_dir = "{state}"

[reconcile]
# Seconds instead of minutes, because the emulated providers are that fast.
converging_seconds = 1
settled_seconds = 5
deleting_seconds = 1
"""

_AGENT = """
[agent]
image = "registry.example/better-compute/bcd:0.1.0"
gateway_url = "https://127.0.0.1:{port}"
pins = ["{pin}"]
"""


class Stage:
    """The quickstart's folder and processes. A context manager.

    Attributes:
        folder: settings, database, logs; made anew each time.
        environment: what the product's processes are started with.
        endpoints: where the emulated clouds are, as they said it themselves.
    """

    def __init__(self, folder: Path, interrupts: Interrupts) -> None:
        """Nothing is started yet: see `__enter__`."""
        self._interrupts = interrupts
        self.folder = folder
        self.settings_file = folder / "fleet.toml"
        self.environment: dict[str, str] = {}
        self.endpoints: dict[str, Any] = {}
        self._processes: list[tuple[str, subprocess.Popen[bytes]]] = []

    def __enter__(self) -> Self:
        """Start the emulated world and bc-fleetd; return when both answer."""
        shutil.rmtree(self.folder, ignore_errors=True)
        (self.folder / "state").mkdir(parents=True, mode=0o700)
        try:
            self._start()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop everything that was started."""
        self.close()

    def close(self) -> None:
        """Stop the processes, the daemon first: it still has leases to give back."""
        for _, process in reversed(self._processes):
            _end(process)
        self._processes.clear()

    def document(self, data: Mapping[str, Any], name: str) -> Path:
        """Put a document into the folder, with its accounts at the emulated clouds."""
        path = self.folder / name
        path.write_text(json.dumps(clouds.emulated(data, self.endpoints), indent=2) + "\n", encoding="utf-8")
        return path

    def inventory(self) -> list[dict[str, Any]]:
        """What exists at the emulated providers, in their clusters, and as machines."""
        items: list[dict[str, Any]] = self._control("GET", "inventory")["items"]
        return items

    def preempt(self) -> list[str]:
        """Have the emulated providers take back every Spot machine.

        Returns:
            The machines' ids.
        """
        machines: list[str] = self._control("POST", "preempt")["machines"]
        return machines

    def lose(self, node: str) -> None:
        """Have the machine of a Node break down for good, without notice."""
        machines: list[dict[str, Any]] = self._control("GET", "machines")["machines"]
        [instance_id] = [machine["instanceId"] for machine in machines if machine["nodeName"] == node]
        self._control("POST", f"machines/{instance_id}/lose")

    def run(self, command: Sequence[str], *, log: str, environment: Mapping[str, str] | None = None) -> int:
        """Run one of the product's commands to its end; its output goes to a file of the folder.

        Returns:
            Its exit status.
        """
        with (self.folder / log).open("wb") as output:
            with self._interrupts.held():
                process = subprocess.Popen(
                    command,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    stdin=subprocess.DEVNULL,
                    env={**self.environment, **(environment or {})},
                    start_new_session=True,
                )
                self._processes.append((log, process))
            try:
                return process.wait()
            finally:
                _end(process)
                self._processes.remove((log, process))

    def _control(self, method: str, what: str) -> dict[str, Any]:
        request = urllib.request.Request(f"{self.endpoints['control']}/{what}", method=method)  # noqa: S310 -- loopback
        with urllib.request.urlopen(request, timeout=10) as reply:  # noqa: S310 -- the same
            answer: dict[str, Any] = json.load(reply)
        return answer

    def _start(self) -> None:
        emulators = self._spawn("emulators", ["--haste", str(_HASTE), "--while-stdin-is-open"], environment=os.environ)
        # The product meets none of the settings and accounts of whoever runs this.
        ours = ("BC_FLEET_", "ANSIBLE_", *clouds.REAL_ACCOUNTS)
        kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
        self.environment = kept | {"BC_FLEET_SETTINGS": str(self.settings_file)}
        self._write_settings()
        self.endpoints = json.loads(self._first_line("emulators", emulators))
        self.environment |= clouds.environment(self.endpoints, self.folder / "state")
        self._first_line("daemon", self._spawn("daemon", ["run"], environment=self.environment))

    def _write_settings(self) -> None:
        port = _free_port()
        settings = _SETTINGS.format(database=self.folder / "state" / "fleet.db", port=port, state=self.folder / "state")
        self.settings_file.write_text(settings, encoding="utf-8")
        made = subprocess.run(
            [sys.executable, "-m", f"{_PACKAGE}.daemon", "certificate"],
            env=self.environment,
            check=True,
            capture_output=True,
            text=True,
        )
        pin = made.stdout.split()[-1]
        self.settings_file.write_text(settings + _AGENT.format(port=port, pin=pin), encoding="utf-8")

    def _spawn(
        self, package: str, arguments: Sequence[str], *, environment: Mapping[str, str]
    ) -> subprocess.Popen[bytes]:
        with (self.folder / f"{package}.log").open("wb") as log, self._interrupts.held():
            process = subprocess.Popen(
                [sys.executable, "-m", f"{_PACKAGE}.{package}", *arguments],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                env=dict(environment),
                start_new_session=True,  # Ctrl-C is ours to pass on, in the right order
            )
            self._processes.append((package, process))
        return process

    def _first_line(self, package: str, process: subprocess.Popen[bytes]) -> str:
        """The line by which a process says that it answers."""
        line = process.stdout.readline().decode() if process.stdout else ""
        if not line:
            raise RuntimeError(f"{package} did not start: see {self.folder / f'{package}.log'}")
        return line


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a process and all that it started; nothing to do for one that has ended."""
    if process.poll() is not None:
        return
    started = descendants(process.pid)
    process.terminate()
    try:
        process.wait(timeout=_GOODBYE_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    await_ends(started, seconds=_GOODBYE_SECONDS)


def _free_port() -> int:
    """A port that was free a moment ago, for the gateway: its address stands in the settings before it listens."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port: int = taken.getsockname()[1]
        return port
