# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The product as its users run it: bc-fleetd and ansible-playbook as processes, the emulated world in this one.

Everything says as much as it can be told to: `--debug`, `-vvvv`, `--diff`.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from ansible_collections.better_compute.fleet.emulators.aws import Timings
from ansible_collections.better_compute.fleet.emulators.aws.account import REGION, Credentials
from ansible_collections.better_compute.fleet.emulators.machines import MachineTimes
from ansible_collections.better_compute.fleet.emulators.world import World

CHECKOUT: Final = Path(__file__).resolve().parents[2]
_PACKAGE: Final = "ansible_collections.better_compute.fleet"
_HASTE: Final = 180
_GOODBYE_SECONDS: Final = 30

_SETTINGS: Final = """\
[store]
database_url = "{database_url}"

[gateway]
listen_host = "127.0.0.1"
listen_port = {port}
state_dir = "{folder}/state"

[reconcile]
converging_seconds = 1
settled_seconds = 5
deleting_seconds = 1
"""
_AGENT: Final = """
[agent]
image = "registry.example/bcd:1"
gateway_url = "https://127.0.0.1:{port}"
pins = ["{pin}"]
"""


def fast_world() -> World:
    """A world on the machine's own clock, in haste."""
    times = {name: seconds / _HASTE for name, seconds in asdict(MachineTimes()).items()}
    return World(timings=Timings().divided_by(_HASTE), machine_times=MachineTimes(**times))


@dataclass(frozen=True, slots=True, kw_only=True)
class RealFleet:
    """A folder with settings, logs and database, and a running daemon.

    Attributes:
        environment: what every process of the product is started with.
    """

    folder: Path
    environment: Mapping[str, str]

    def ansible(
        self, *playbooks: Path, log: str, environment: Mapping[str, str] | None = None, **variables: Any
    ) -> int:
        """Run playbooks in one go; all that they say goes to a log. Returns the exit status."""
        command = [
            sys.executable,
            str(Path(sys.executable).with_name("ansible-playbook")),
            *map(str, playbooks),
            "-vvvv",
            "--diff",
            "-e",
            json.dumps(variables),
        ]
        with (self.folder / log).open("wb") as output:
            return subprocess.run(
                command,
                check=False,
                stdout=output,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
                env={
                    **self.environment,
                    "ANSIBLE_COLLECTIONS_PATH": str(CHECKOUT / "build"),
                    "ANSIBLE_LOCAL_TEMP": str(self.folder / "ansible-tmp"),
                    "ANSIBLE_REMOTE_TEMP": str(self.folder / "ansible-tmp"),
                    "ANSIBLE_HOME": str(self.folder / "ansible-home"),
                    "ANSIBLE_KEEP_REMOTE_FILES": "1",
                    **(environment or {}),
                },
            ).returncode

    def said(self) -> str:
        """Every log so far."""
        return "\n".join(path.read_text(errors="replace") for path in sorted(self.folder.glob("*.log")))


@contextmanager
def real_fleet(world: World, folder: Path, *, key: Credentials) -> Iterator[RealFleet]:
    """A daemon that serves until the end of the block.

    Arguments:
        key: of the principal that the product acts as.
    """
    (folder / "state").mkdir(mode=0o700)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "BC_FLEET_", "ANSIBLE_"))}
    environment = kept | {
        "AWS_ENDPOINT_URL": world.aws.url,
        "AWS_ACCESS_KEY_ID": key.access_key_id,
        "AWS_SECRET_ACCESS_KEY": key.secret_access_key,
        "AWS_SESSION_TOKEN": key.session_token or "",
        "AWS_DEFAULT_REGION": REGION,
        "AWS_EC2_METADATA_DISABLED": "true",
        "BC_FLEET_SETTINGS": str(folder / "fleet.toml"),
    }
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    settings = _SETTINGS.format(database_url=f"sqlite:///{folder}/state/fleet.db", port=port, folder=folder)
    (folder / "fleet.toml").write_text(settings)
    command = [sys.executable, "-m", f"{_PACKAGE}.daemon"]
    pin = subprocess.run(
        [*command, "certificate"], check=True, env=environment, capture_output=True, text=True
    ).stdout.split()[-1]
    (folder / "fleet.toml").write_text(settings + _AGENT.format(port=port, pin=pin))
    with (folder / "daemon.log").open("wb") as log:
        daemon = subprocess.Popen(
            [*command, "run", "--debug"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=log,
            env=environment,
        )
    assert daemon.stdout is not None
    try:
        assert daemon.stdout.readline(), (folder / "daemon.log").read_text()
        yield RealFleet(folder=folder, environment=environment)
    finally:
        daemon.send_signal(signal.SIGTERM)
        try:
            daemon.wait(timeout=_GOODBYE_SECONDS)
        finally:
            daemon.kill()
            daemon.wait()
            daemon.stdout.close()
