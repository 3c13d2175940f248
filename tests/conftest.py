# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Fixtures that every test can ask for: databases, a real cluster, and the guard against what a test leaves running.

``database_url`` runs a test twice, on SQLite and on PostgreSQL. The PostgreSQL server is started for the first test
that asks for one, once in each xdist worker, and every test gets a database of its own in it.

``real_cluster_api`` is a cluster on a real kube-apiserver. Its control plane is started in the same way, and emptied
for each test. Where there is none the test is skipped, and says so in the summary; with BC_CONTROLPLANE=required it
fails. Tests that use it are marked ``controlplane``. Tests marked ``browser`` drive a real browser: the same holds of
them, with BC_BROWSER.
"""

from __future__ import annotations

import multiprocessing.forkserver
import multiprocessing.resource_tracker
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ansible_collections.better_compute.fleet.tests.support import browser
from ansible_collections.better_compute.fleet.tests.support.controlplane import program
from ansible_collections.better_compute.fleet.tests.support.leftovers import left_since, now_running
from ansible_collections.better_compute.fleet.tests.support.log_kept import log_kept
from ansible_collections.better_compute.fleet.tests.support.postgres import PostgresServer, running_server

if TYPE_CHECKING:
    from ansible_collections.better_compute.fleet.tests.support.controlplane.cluster import RealCluster
    from ansible_collections.better_compute.fleet.tests.support.controlplane.server import ControlPlane

pytest_plugins = (
    "ansible_collections.better_compute.fleet.tests.conformance.plugin",
    "ansible_collections.better_compute.fleet.tests.kubernetes_probes.guard",
)

_SERVERS: set[int] = set()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip the tests of a real cluster, or browser, where there is none, before they run: a line a file says so."""
    for marker, find, none in (
        ("controlplane", program.find, program.NoControlPlane),
        ("browser", browser.find, browser.NoBrowser),
    ):
        if os.environ.get(f"BC_{marker.upper()}") == "required":
            continue
        try:
            find()
        except none as missing:
            for item in items:
                if item.get_closest_marker(marker):
                    item.add_marker(pytest.mark.skip(reason=str(missing)))


@pytest.fixture(autouse=True)
def _log_as_before() -> Iterator[None]:
    """The process's log as it was before each test: the command line sets it up for its process."""
    with log_kept():
        yield


@pytest.fixture(autouse=True)
def _nothing_is_left_running() -> Iterator[None]:
    """Fail a test that leaves a child process or a non-daemon thread behind."""
    before = now_running()
    yield
    # multiprocessing keeps one tracker and one fork server from their first use until the interpreter ends.
    tracker: int | None = getattr(multiprocessing.resource_tracker._resource_tracker, "_pid", None)
    forks: int | None = getattr(multiprocessing.forkserver._forkserver, "_forkserver_pid", None)
    left = left_since(before, allowed_pids=_SERVERS | {pid for pid in (tracker, forks) if pid is not None})
    if left:
        pytest.fail("the test left something running:\n  " + "\n  ".join(left), pytrace=False)


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    """The session's PostgreSQL server. Fails, and never skips, where none can be had."""
    with running_server() as server:
        assert server.pid is not None
        _SERVERS.add(server.pid)
        yield server


@pytest.fixture
def postgresql_url(request: pytest.FixtureRequest) -> Iterator[str]:
    """The SQLAlchemy URL of an empty PostgreSQL database of this test's own."""
    server: PostgresServer = request.getfixturevalue("postgres_server")
    with server.fresh_database(hint=request.node.name) as url:
        yield url


@pytest.fixture
def sqlite_url(tmp_path: Path) -> str:
    """The SQLAlchemy URL of a SQLite file of this test's own, which does not exist yet."""
    return f"sqlite:///{tmp_path / 'fleet.db'}"


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest) -> str:
    """The SQLAlchemy URL of an empty database of this test's own: once SQLite, once PostgreSQL."""
    url: str = request.getfixturevalue(f"{request.param}_url")
    return url


@pytest.fixture(scope="session")
def real_control_plane() -> Iterator[ControlPlane]:
    """The session's real control plane. Fails where none can be had: tests are skipped before they ask."""
    # Only here: most sessions need none of what this imports.
    from ansible_collections.better_compute.fleet.tests.support.controlplane.server import running_control_plane

    with running_control_plane(program.find()) as plane:
        _SERVERS.update(plane.pids)
        yield plane


@pytest.fixture
def real_cluster_api(real_control_plane: ControlPlane) -> Iterator[RealCluster]:
    """A real cluster with nothing in it but what Kubernetes puts there itself."""
    from ansible_collections.better_compute.fleet.tests.support.controlplane.cluster import RealCluster

    cluster = RealCluster(
        admin=real_control_plane.admin,
        admin_token=real_control_plane.credentials.admin_token,
        reviews=real_control_plane.reviews,
    )
    cluster.empty()
    yield cluster
    cluster.empty()
