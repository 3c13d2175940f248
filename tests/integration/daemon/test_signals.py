# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A real SIGTERM in the middle of a pass: the step in hand is ended, and the lease is somebody else's at once."""

from __future__ import annotations

import signal
import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.records import PoolRecord
from ansible_collections.better_compute.fleet.plugins.module_utils._core.store import Store, work
from ansible_collections.better_compute.fleet.tests.support.daemon_process import daemon, environment_for

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
