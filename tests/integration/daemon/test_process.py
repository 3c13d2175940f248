# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""`bc-fleetd run` as the process that a service manager starts: what it says, where it answers, how it ends."""

from __future__ import annotations

import signal
import socket
import ssl
import subprocess
from collections.abc import Iterator
from contextlib import closing
from http.client import HTTPSConnection
from pathlib import Path

import pytest

from ansible_collections.better_compute.fleet.daemon.version import told_version
from ansible_collections.better_compute.fleet.plugins.module_utils._core.documents.settings import load_settings
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.ids import PLATFORM_TENANT
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.permissions import Permission
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations import api_tokens
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.checks.fleet import check_fleet
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.session import open_session
from ansible_collections.better_compute.fleet.tests.support.daemon_process import (
    CHECKOUT,
    COMMAND,
    daemon,
    environment_for,
)
from ansible_collections.better_compute.fleet.tests.support.wire_client import tls, wire_client


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """On a SQLite file that does not exist yet."""
    made = environment_for(f"sqlite:///{tmp_path / 'fleet.db'}", tmp_path)
    return made | {"NOTIFY_SOCKET": str(tmp_path / "notify")}


@pytest.fixture
def manager(tmp_path: Path) -> Iterator[socket.socket]:
    """The service manager's socket."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listening:
        listening.bind(str(tmp_path / "notify"))
        listening.settimeout(60)
        yield listening


def metrics(environment: dict[str, str], *, port: int) -> str:
    """What the daemon of this environment tells a scraper whose token may read it."""
    with open_session(load_settings(environ=environment)) as session:
        issued = api_tokens.issue(
            session, name="prometheus", tenant=PLATFORM_TENANT, permissions=[Permission.METRICS_READ]
        )
    with closing(HTTPSConnection("127.0.0.1", port, timeout=30, context=tls())) as connection:
        connection.request("GET", "/metrics", headers={"Authorization": f"Bearer {issued.token.reveal()}"})
        return connection.getresponse().read().decode()


def doctors_word_on_the_daemon(environment: dict[str, str]) -> str:
    """What the records say of it now."""
    with open_session(load_settings(environ=environment), if_missing="refuse") as session:
        return next(str(check.verdict) for check in check_fleet(session) if check.about == "daemon")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_says_when_it_is_ready_and_ends_well_when_told_to(
    environment: dict[str, str], manager: socket.socket, number: signal.Signals
) -> None:
    with daemon(environment | {"BC_FLEET_API_LISTEN_PORT": "0"}) as process:
        ready, status = manager.recv(1000).decode().splitlines()
        assert ready == "READY=1"
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line.startswith("bc-fleetd runs passes, and answers bcd at https://127.0.0.1:")
        port = int(line.split()[7].rpartition(":")[2])
        # It takes the place of what was told while the database was waited for.
        assert status == f"STATUS=answers bcd at https://127.0.0.1:{port}"
        assert doctors_word_on_the_daemon(environment) == "ok"
        with wire_client(port) as client:
            assert client.heartbeat("node_" + "0" * 26).status == 401
        told = metrics(environment, port=int(line.rpartition(":")[2]))
        assert 'bc_fleetd_gateway_requests_total{call="heartbeat",status="401"} 1.0' in told
        assert "bc_fleetd_store_up 1.0" in told
        process.send_signal(number)
        assert manager.recv(1000).splitlines()[0] == b"STOPPING=1"
        out, err = process.communicate(timeout=30)
    assert process.returncode == 0
    assert doctors_word_on_the_daemon(environment) == "warning"
    assert out == ""
    assert all(entry.startswith("time=") for entry in err.splitlines())
    first = err.splitlines()[0]
    assert f"{told_version()} begins" in first
    assert "settings file: none, the environment and defaults" in first
    assert f"database: {environment['BC_FLEET_STORE_DATABASE_URL']}" in first
    assert f"told to stop ({number.name})" in err
    assert "bc-fleetd has stopped" in err


def test_a_database_that_is_away_is_waited_for(environment: dict[str, str], tmp_path: Path) -> None:
    environment |= {"BC_FLEET_STORE_DATABASE_URL": "postgresql+psycopg://u:the-secret@127.0.0.1:1/fleet"}
    with daemon(environment) as process:
        assert process.stderr is not None
        begins, line = process.stderr.readline(), process.stderr.readline()
        assert "begins" in begins
        assert "database: postgresql+psycopg://u:***@127.0.0.1:1/fleet" in begins
        assert "the database is not to be had" in line
        assert "the-secret" not in line
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=30)
    assert process.returncode == 0
    assert (out, err) == ("", "")


def test_a_certificate_is_made_and_shown(environment: dict[str, str], manager: socket.socket) -> None:
    made = subprocess.run([*COMMAND, "certificate"], cwd=CHECKOUT, env=environment, capture_output=True, text=True)
    pin = made.stdout.split()[-1]
    with daemon(environment) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line.rstrip().endswith(f"(pin {pin})")
        port = int(line.split()[7].rpartition(":")[2])
        shown = ssl.get_server_certificate(("127.0.0.1", port))
        assert shown == (Path(environment["BC_FLEET_GATEWAY_STATE_DIR"]) / "gateway-certificate.pem").read_text()
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=30)
