# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The role as root on a host whose first process is systemd: the service starts, is kept running, and is told apart.

Skipped where no systemd can be started: see tests/support/live_systemd.py for what it needs.
"""

from __future__ import annotations

import json
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

import pytest

from ansible_collections.better_compute.fleet.tests.support.live_systemd import LiveSystemd, NoSystemd, live_systemd
from ansible_collections.better_compute.fleet.tests.support.tree_copy import CHECKOUT

pytestmark = pytest.mark.e2e

UNIT = "bc-fleetd"
VENV = Path("/opt/better-compute/venv")
PLAY = """
- hosts: localhost
  connection: local
  gather_facts: false
  roles:
    - better_compute.fleet.fleetd
"""
VARIABLES = {
    "ansible_python_interpreter": sys.executable,
    "fleetd_build_arguments": ["--no-build-isolation", "--no-index"],
    "fleetd_pip_arguments": "--no-index --no-deps",
}


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[LiveSystemd]:
    """With the libraries of this environment in the service's: there is no index here."""
    (tmp_path / "machine").mkdir()
    try:
        with live_systemd(tmp_path / "machine") as started:
            started.run(sys.executable, "-m", "venv", VENV)
            [libraries] = [VENV / "lib" / f"python{sysconfig.get_python_version()}" / "site-packages"]
            # Not where they are: a service with a /tmp of its own does not see a checkout that lies there.
            started.run("mkdir", "/opt/libraries")
            started.run("mount", "--bind", sysconfig.get_path("purelib"), "/opt/libraries")
            started.run("sh", "-c", f"echo /opt/libraries > {libraries}/libraries.pth")
            yield started
    except NoSystemd as error:
        pytest.skip(str(error))


def play(machine: LiveSystemd, port: int) -> str:
    variables = {**VARIABLES, "fleetd_settings": {"gateway": {"listen_port": port}}}
    command = (
        f"cat > /root/play.yml <<'END'\n{PLAY}END\n"
        f"exec env HOME=/root LC_ALL=C.UTF-8 ANSIBLE_COLLECTIONS_PATH={CHECKOUT / 'build'} ANSIBLE_NOCOLOR=true "
        f'{Path(sys.executable).with_name("ansible-playbook")} -i localhost, /root/play.yml -e "$0"'
    )
    return machine.run("sh", "-c", command, json.dumps(variables))


def test_the_service_is_started_once_kept_running_and_restarted_for_other_settings(machine: LiveSystemd) -> None:
    told = play(machine, 0)
    assert "failed=0" in told, told
    assert "RUNNING HANDLER" not in told
    assert machine.says(UNIT, "ActiveState", "SubState", "Type", "UnitFileState", "NRestarts") == {
        "ActiveState": "active", "SubState": "running", "Type": "notify", "UnitFileState": "enabled", "NRestarts": "0",
    }  # fmt: skip
    assert machine.says(UNIT, "StatusText")["StatusText"].startswith("answers bcd at https://127.0.0.1:")
    assert "changed=0" in play(machine, 0)

    # What it reads only when it starts is read.
    machine.run("rm", "/var/lib/better-compute/gateway-certificate.pem")
    assert "RUNNING HANDLER" in play(machine, 0)
    assert "changed=0" in play(machine, 0)

    # A stray signal is not a wish that it end.
    for number in ("HUP", "KILL"):
        with subprocess.Popen(
            machine.command("timeout", "60", "journalctl", "--follow", "--lines=0", "--output=cat", f"--unit={UNIT}"),
            stdout=subprocess.PIPE, text=True,
        ) as journal:  # fmt: skip
            machine.run("systemctl", "kill", f"--signal={number}", "--kill-who=main", UNIT)
            assert journal.stdout is not None
            assert any(line.startswith("Started ") for line in journal.stdout)
            journal.terminate()
    assert machine.says(UNIT, "NRestarts") == {"NRestarts": "2"}

    # What is wrong is told as an error, and not tried again.
    machine.run("sh", "-c", "echo colour = 1 > /etc/better-compute/fleet.toml")
    machine.run("systemctl", "restart", UNIT)
    assert machine.says(UNIT, "ActiveState", "ExecMainStatus") == {"ActiveState": "failed", "ExecMainStatus": "2"}
    assert "colour: unknown key" in machine.run("journalctl", "--priority=err", f"--unit={UNIT}")

    assert "failed=0" in play(machine, 0)
    assert machine.says(UNIT, "ActiveState") == {"ActiveState": "active"}
    machine.run("systemctl", "stop", UNIT)
    assert machine.says(UNIT, "ActiveState", "Result") == {"ActiveState": "inactive", "Result": "success"}
