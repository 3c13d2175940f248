# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The role, run by Ansible on this host into a folder of its own: program, settings, schema, certificate and unit.

The service itself is not started: test_role_live.py does that, where a systemd can be had.
"""

from __future__ import annotations

import getpass
import grp
import json
import os
import shutil
import stat
import sys
import sysconfig
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.better_compute.fleet.tests.support.programs import run_to_end
from ansible_collections.better_compute.fleet.tests.support.tree_copy import CHECKOUT

pytestmark = pytest.mark.e2e

PASSWORD = 'a "secret" of the \\ database, with ü'
PLAY = """
- hosts: localhost
  connection: local
  gather_facts: false
  roles:
    - better_compute.fleet.fleetd
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """A host that is a folder."""

    folder: Path
    environment: dict[str, str]

    def play(self, *arguments: str, **settings: dict[str, Any]) -> str:
        """Run the role; what Ansible printed."""
        variables = {
            "ansible_python_interpreter": sys.executable,
            "fleetd_build_arguments": ["--no-build-isolation", "--no-index"],
            "fleetd_pip_arguments": "--no-index --no-deps",
            "fleetd_python": sys.executable,
            "fleetd_venv": str(self.folder / "opt" / "venv"),
            "fleetd_program_link": str(self.folder / "bc-fleetd"),
            "fleetd_manage_user": False,
            "fleetd_user": getpass.getuser(),
            "fleetd_group": grp.getgrgid(os.getgid()).gr_name,
            "fleetd_config_dir": str(self.folder / "etc"),
            "fleetd_state_dir": str(self.folder / "state"),
            "fleetd_settings": settings,
            "fleetd_environment": {"SOME_TOKEN": PASSWORD},
            "fleetd_manage_service": False,
            "fleetd_unit_dir": str(self.folder),
        }
        (self.folder / "play.yml").write_text(PLAY)
        return self.run(
            str(Path(sys.executable).with_name("ansible-playbook")), "-i", "localhost,", "play.yml",
            "-e", json.dumps(variables), *arguments,
        )  # fmt: skip

    def written(self, template: str, variables: dict[str, Any]) -> str:
        """What one of the role's templates becomes."""
        source = CHECKOUT / "roles" / "fleetd" / "templates" / template
        self.run(
            str(Path(sys.executable).with_name("ansible")), "localhost", "-m", "ansible.builtin.template",
            "-a", json.dumps({"src": str(source), "dest": "written"}), "-e", json.dumps(variables),
            "-e", f"ansible_python_interpreter={sys.executable}",
        )  # fmt: skip
        return (self.folder / "written").read_text()

    def run(self, *command: str, status: int = 0) -> str:
        """Run a program to its end, which has this exit status; what it printed."""
        return run_to_end(command, folder=self.folder, environment=self.environment, status=status, seconds=240)


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Host:
    """With the libraries of this environment for every Python: there is no index here."""
    folder = tmp_path_factory.mktemp("host")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("BC_FLEET_", "ANSIBLE_"))}
    environment = {
        **kept,
        "ANSIBLE_HOME": str(folder / "ansible"),
        "ANSIBLE_NOCOLOR": "true",
        "ANSIBLE_PIPELINING": "true",
        "ANSIBLE_COLLECTIONS_PATH": str(CHECKOUT / "build"),
        "PYTHONPATH": sysconfig.get_path("purelib"),
    }
    return Host(folder=folder, environment=environment)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_the_role_installs_all_that_the_daemon_needs_and_a_second_run_changes_nothing(host: Host) -> None:
    before = {path.name for path in host.folder.iterdir()} | {"ansible", "play.yml"}
    database = host.folder / "state" / "fleet.db"
    assert "failed=0" in host.play("--check", "--diff")
    assert {path.name for path in host.folder.iterdir()} == before, "a check makes nothing"

    settings: dict[str, dict[str, Any]] = {
        "gateway": {"listen_port": 0},
        "api": {"listen_host": "127.0.0.2", "listen_port": 0},
    }
    told = host.play("--diff", **settings)
    assert "failed=0" in told
    assert PASSWORD not in told
    assert database.exists()
    assert mode(host.folder / "etc" / "fleet.toml") == 0o640
    assert mode(host.folder / "etc" / "fleetd.env") == 0o600
    assert (host.folder / "etc" / "fleetd.env").read_text().splitlines()[1:] == [
        'SOME_TOKEN="a \\"secret\\" of the \\\\ database, with ü"'
    ]
    assert "changed=0" in host.play("--diff", **settings)

    # The console script is the wheel's.
    program = str(host.folder / "bc-fleetd")
    asked = ("--settings", str(host.folder / "etc" / "fleet.toml"))
    assert "usage: bc-fleetd" in host.run(program, "--help")
    assert "already had this version's schema" in host.run(program, "migrate", *asked)
    pin = host.run(program, "certificate", *asked).split()[-1]
    checks = json.loads(host.run(program, "doctor", "--json", *asked))
    assert checks["problems"] == 0
    [certificate] = [check for check in checks["checks"] if check["about"] == "certificate"]
    assert (certificate["verdict"], certificate["message"].split()[-1]) == ("ok", pin)
    # The certificate that the role had made has the address that the API listens on.
    assert [check["verdict"] for check in checks["checks"] if check["about"] == "API's certificate"] == ["ok"]
    found = host.run(str(host.folder / "opt" / "venv" / "bin" / "python"), "-c", WHERE)
    assert found.startswith(str(host.folder / "opt" / "venv"))

    if shutil.which("systemd-analyze"):
        unit = str(host.folder / "bc-fleetd.service")
        assert host.run("systemd-analyze", "verify", "--man=no", unit) == ""


WHERE = "import ansible_collections.better_compute.fleet.daemon as found; print(found.__file__)"


def test_the_unit_lets_the_daemon_do_what_the_settings_ask_for(host: Host) -> None:
    none = ["CapabilityBoundingSet=", "ReadWritePaths=/state"]
    assert privileges(host, {}) == none
    assert privileges(host, {"gateway": {"listen_port": 1024}, "api": {"listen_port": 0}}) == none
    assert privileges(host, {"gateway": {"listen_host": "0.0.0.0"}, "api": {}}) == none
    low = ["AmbientCapabilities=CAP_NET_BIND_SERVICE", "CapabilityBoundingSet=CAP_NET_BIND_SERVICE"]
    assert privileges(host, {"gateway": {"listen_port": 443}}) == [*low, "ReadWritePaths=/state"]
    assert privileges(host, {"gateway": {"listen_port": 8443}, "api": {"listen_port": 443}})[:2] == low
    database = {"database_url": "sqlite:////srv/fleet/a.db?timeout=5"}
    assert privileges(host, {"store": database})[1:] == ["ReadWritePaths=/srv/fleet", "ReadWritePaths=/state"]


def privileges(host: Host, settings: dict[str, Any]) -> list[str]:
    variables = {
        "fleetd_settings": settings, "fleetd_state_dir": "/state", "fleetd_config_dir": "/etc/fleet",
        "fleetd_venv": "/venv", "fleetd_user": "fleet", "fleetd_group": "fleet", "ansible_managed": "managed",
    }  # fmt: skip
    lines = host.written("bc-fleetd.service.j2", variables).splitlines()
    return sorted(line for line in lines if line.partition("=")[0] in PRIVILEGES)


PRIVILEGES = {"AmbientCapabilities", "CapabilityBoundingSet", "ReadWritePaths"}


def test_settings_are_written_as_they_are_given(host: Host) -> None:
    url = f"postgresql+psycopg://fleet:{PASSWORD}@127.0.0.1:1/fleet"
    given = {
        "store": {"database_url": url},
        "agent": {"image": "bcd:1", "pins": ["a", "b"]},
        "api": {},
        "reconcile": {"workers": 3},
        "log": {"format": "json"},
    }
    variables = {"fleetd_settings": given, "fleetd_state_dir": "/state", "ansible_managed": "managed"}
    written = tomllib.loads(host.written("fleet.toml.j2", variables))
    assert written == {**given, "gateway": {"state_dir": "/state"}}
