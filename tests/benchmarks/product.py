# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The product as processes on an emulated AWS: what a person's ansible runs, without Ansible's own start-up."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from .timing import Failed, run_process

CHECKOUT: Final = Path(__file__).resolve().parents[2]
COLLECTIONS: Final = CHECKOUT / "build"
_PACKAGE: Final = "ansible_collections.better_compute.fleet"

_HASTE: Final = 1000
"""EKS's nine minutes for a cluster are half a second: nothing here measures them."""

_GOODBYE_SECONDS: Final = 30

AGENT: Final = {
    "BC_FLEET_AGENT_IMAGE": "registry.example/bcd:1",
    "BC_FLEET_AGENT_GATEWAY_URL": "https://127.0.0.1:9443",
    "BC_FLEET_AGENT_PINS": "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",
}
"""Settings without which no cluster is made. No machine joins here: every node pool is of size zero."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """A folder with a fleet's records, and the environment of whoever works on it."""

    folder: Path
    environment: Mapping[str, str]

    def module(self, name: str, arguments: Mapping[str, Any], *, check: bool = False) -> tuple[float, dict[str, Any]]:
        """Run a module in a process of its own, as it runs on a target.

        Returns:
            The process's wall time in seconds, and the module's result.

        Raises:
            Failed: the module failed.
        """
        sent = json.dumps({"ANSIBLE_MODULE_ARGS": {**arguments, "_ansible_check_mode": check}})
        command = [sys.executable, "-m", f"{_PACKAGE}.plugins.modules.{name}"]
        seconds, told = run_process(command, environment=self.environment, folder=self.folder, sent=sent)
        result: dict[str, Any] = json.loads(told)
        return seconds, result

    def command(self, name: str, *arguments: str) -> tuple[float, str]:
        """Run a command of bc-fleetd.

        Returns:
            The process's wall time in seconds, and what it said.

        Raises:
            Failed: it did not end well.
        """
        command = [sys.executable, "-m", f"{_PACKAGE}.daemon", name, *arguments]
        return run_process(command, environment=self.environment, folder=self.folder)

    def passes(self) -> str:
        """Run the passes that are due, as `bc-fleetd once`; what it said."""
        return self.command("once")[1]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cloud:
    """An emulated AWS as a process of its own."""

    control_url: str
    environment: Mapping[str, str]

    def calls(self) -> dict[str, int]:
        """How often each call was made so far, by `<cloud> <name>`, and how many writes were carried out."""
        with urllib.request.urlopen(f"{self.control_url}/requests", timeout=10) as reply:
            log = json.load(reply)
        return {**log["calls"], "writes": log["writes"]}


def desk(folder: Path, environment: Mapping[str, str] | None = None, **settings: str) -> Desk:
    """A desk with no records yet.

    Arguments:
        environment: the cloud's.
        settings: as environment variables (`BC_FLEET_…="…"`).
    """
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "BC_FLEET_", "ANSIBLE_"))}
    database = {"BC_FLEET_STORE_DATABASE_URL": f"sqlite:///{folder / 'fleet.db'}"}
    return Desk(folder=folder, environment={**kept, **AGENT, **database, **(environment or {}), **settings})


def installed(at: Desk) -> Desk:
    """The same desk, where Python's bytecode is kept from one process to the next, as an installed program's is."""
    kept = {name: value for name, value in at.environment.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return replace(at, environment={**kept, "PYTHONPYCACHEPREFIX": str(at.folder / "bytecode")})


@contextmanager
def emulated_cloud() -> Iterator[Cloud]:
    """Start it; it ends with the block, and with this process."""
    command = [sys.executable, "-m", f"{_PACKAGE}.emulators", "--haste", str(_HASTE), "--while-stdin-is-open"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        if not line:
            raise Failed("the emulators did not start")
        told = json.loads(line)
        aws = told["aws"]
        try:
            yield Cloud(
                control_url=told["control"],
                environment={
                    "AWS_ENDPOINT_URL": aws["endpoint_url"],
                    "AWS_ACCESS_KEY_ID": aws["access_key_id"],
                    "AWS_SECRET_ACCESS_KEY": aws["secret_access_key"],
                    "AWS_DEFAULT_REGION": aws["region"],
                    "AWS_EC2_METADATA_DISABLED": "true",
                },
            )
        finally:
            process.communicate(timeout=_GOODBYE_SECONDS)
