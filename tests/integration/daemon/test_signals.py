# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A real SIGTERM in the middle of a pass: the step in hand is ended, and the lease is somebody else's at once. And what
else may happen then: the gateway is still asked, the signal comes twice, the database is away, the process is killed.
"""

from __future__ import annotations

import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.records import PoolRecord
from ansible_collections.better_compute.fleet.plugins.module_utils._core.store import Store, pool_nodes, work
from ansible_collections.better_compute.fleet.tests.support.daemon_process import daemon, environment_for
from ansible_collections.better_compute.fleet.tests.support.joining_machines import TOKEN, new_token
from ansible_collections.better_compute.fleet.tests.support.wire_client import wire_client

from .arrivals import lapse

_REFUSAL = (
    b"<Response><Errors><Error><Code>UnauthorizedOperation</Code><Message>no</Message></Error></Errors>"
    b"<RequestID>1</RequestID></Response>"
)
REFUSED = b"HTTP/1.1 403 Forbidden\r\nContent-Type: text/xml\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s" % (
    len(_REFUSAL),
    _REFUSAL,
)


@pytest.fixture
def provider() -> Iterator[socket.socket]:
    """Where the AWS account's calls go: answers only what the test answers."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.settimeout(60)
        yield listening


@pytest.fixture
def environment(store_url: str, tmp_path: Path, provider: socket.socket) -> dict[str, str]:
    return environment_for(store_url, tmp_path) | {
        "AWS_ENDPOINT_URL": f"http://127.0.0.1:{provider.getsockname()[1]}",
        "AWS_ACCESS_KEY_ID": "a",
        "AWS_SECRET_ACCESS_KEY": "b",
        "AWS_EC2_METADATA_DISABLED": "true",
        # Without an [agent] nothing is created, so nobody is called.
        "BC_FLEET_AGENT_IMAGE": "registry.example/bcd:1",
        "BC_FLEET_AGENT_GATEWAY_URL": "https://gateway.example",
        "BC_FLEET_AGENT_PINS": "A" * 43 + "=",
    }


def test_a_step_is_ended_and_the_lease_given_back(
    environment: dict[str, str],
    provider: socket.socket,
    clocked_store: Store,
    due_pools: Callable[[int], list[PoolRecord]],
) -> None:
    (pool,) = due_pools(1)
    with daemon(environment) as process:
        call, _address = provider.accept()
        with call:
            with clocked_store.read() as tx:
                assert work.lease_of(tx, pool.id) is not None
            process.send_signal(signal.SIGTERM)
            told = time.monotonic()
            assert process.stderr is not None
            assert any("told to stop" in line for line in process.stderr)
            call.recv(65536)
            call.sendall(REFUSED)
        _out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    assert time.monotonic() - told < 10
    assert "left to lapse" not in err
    with clocked_store.read() as tx:
        assert work.lease_of(tx, pool.id) is None
        due = work.due_of(tx, pool.id)
        assert due is not None
        assert due <= tx.now


@pytest.mark.e2e
def test_meanwhile_the_gateway_answers_long_polls_are_let_go_and_a_second_signal_changes_nothing(
    environment: dict[str, str],
    provider: socket.socket,
    clocked_store: Store,
    due_pools: Callable[[int], list[PoolRecord]],
) -> None:
    (pool,) = due_pools(1)
    ends = datetime.now(UTC) + timedelta(hours=1)
    token = new_token(clocked_store, pool, TOKEN, max_uses=1, expires_at=ends)
    with daemon(environment) as process, ThreadPoolExecutor(1) as threads:
        port = port_of(process)
        call, _address = provider.accept()
        with call, wire_client(port) as client, wire_client(port) as waiting:
            node_id = client.join(token=token.reveal()).body["nodeId"]
            version = client.heartbeat(node_id).body["bookingsVersion"]
            began = time.monotonic()
            poll = threads.submit(waiting.bookings, node_id, version=version, wait_seconds=60)
            process.send_signal(signal.SIGTERM)
            assert process.stderr is not None
            assert any("told to stop" in line for line in process.stderr)
            assert client.heartbeat(node_id).status == 200, "a step is still in hand, and so is the gateway"
            process.send_signal(signal.SIGTERM)
            assert client.heartbeat(node_id).status == 200
            call.recv(65536)
            call.sendall(REFUSED)
            assert poll.result(timeout=30).status == 200
        _out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    assert time.monotonic() - began < 40, "a long poll takes a minute"
    with clocked_store.read() as tx:
        assert work.lease_of(tx, pool.id) is None
        (node,) = pool_nodes.pool_nodes(tx, pool.id)
        assert node.last_seen_at > node.joined_at, "its heartbeats were written"


@pytest.mark.e2e
def test_with_the_database_away_it_ends_all_the_same_and_the_lease_lapses(
    environment: dict[str, str],
    provider: socket.socket,
    due_pools: Callable[[int], list[PoolRecord]],
    clocked_store: Store,
    store_url: str,
) -> None:
    if not store_url.startswith("sqlite"):
        return
    (pool,) = due_pools(1)
    file = Path(store_url.removeprefix("sqlite:///"))
    with daemon(environment) as process:
        call, _address = provider.accept()
        with call:
            away = file.rename(file.with_suffix(".away"))
            file.mkdir()
            process.send_signal(signal.SIGTERM)
            call.recv(65536)
            call.sendall(REFUSED)
        _out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    assert "the database is not to be had" in err
    file.rmdir()
    away.rename(file)
    with clocked_store.read() as tx:
        lease = work.lease_of(tx, pool.id)
    assert lease is not None, "nobody could give it back"


@pytest.mark.e2e
def test_after_a_kill_a_new_daemon_goes_on_when_the_lease_has_lapsed(
    environment: dict[str, str],
    provider: socket.socket,
    clocked_store: Store,
    due_pools: Callable[[int], list[PoolRecord]],
) -> None:
    (pool,) = due_pools(1)
    with daemon(environment) as process:
        call, _address = provider.accept()
        process.kill()
        call.close()
        process.wait(30)
    with clocked_store.read() as tx:
        former = work.lease_of(tx, pool.id)
    assert former is not None
    lapse(clocked_store, pool)
    with daemon(environment) as process:
        call, _address = provider.accept()
        with call:
            with clocked_store.read() as tx:
                lease = work.lease_of(tx, pool.id)
            process.send_signal(signal.SIGTERM)
            call.recv(65536)
            call.sendall(REFUSED)
        process.communicate(timeout=60)
    assert lease is not None
    assert (lease.holder != former.holder, lease.fence) == (True, former.fence + 1)


def port_of(process: subprocess.Popen[str]) -> int:
    """Where the daemon's gateway listens, as it says."""
    assert process.stdout is not None
    return int(process.stdout.readline().split()[7].rpartition(":")[2])
