# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The canary: whatever goes wrong at whatever call, no token shows up in a log, an exception or a repr.

And the sweep beside it: whatever goes wrong at whatever call, running again ends in the same cluster.
"""

from __future__ import annotations

import logging
import socket
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from ansible_collections.better_compute.fleet.emulators.engine import Call, Clock, Delay, Error, LostReply
from ansible_collections.better_compute.fleet.plugins.module_utils._core.cluster import (
    access,
    agent,
    claim,
    join_secret,
    node_list,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.cluster import api as door
from ansible_collections.better_compute.fleet.plugins.module_utils._core.cluster.api import ClusterApi
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import ClusterError
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.secret import Secret

from .conftest import BOOTSTRAP_TOKEN, POOL, SETTINGS, AnyWorld, World

JOIN_TOKEN = "join-canary-77d0"


@pytest.fixture
def world(any_world: AnyWorld) -> AnyWorld:
    return any_world


class Life:
    """A substrate's whole life on the cluster, in passes that may each fail and are then run again."""

    def __init__(self, world: AnyWorld) -> None:
        self.world = world
        self.tokens = {BOOTSTRAP_TOKEN, JOIN_TOKEN}
        self.shown: list[str] = []
        self.failed = 0

    def run(self) -> None:
        self._until_done(self._build)
        self._until_done(self._tear_down)

    def _until_done(self, one_pass: Callable[[], bool]) -> None:
        for _pass in range(60):
            try:
                done = one_pass()
            except ClusterError as error:
                self.failed += 1
                self.shown += [str(error), repr(error), *traceback.format_exception(error)]
                done = False
            if done:
                return
            self.world.settle()
        pytest.fail("it never converges")

    def _open(self) -> ClusterApi:
        api = access.open_cluster(self.world.bootstrap(), pool_id=POOL)
        self.tokens.add(api._token.reveal())
        self.shown += [str(api), repr(api), repr(self.world.bootstrap())]
        return api

    def _build(self) -> bool:
        with self._open() as api:
            claim.hold_claim(api, pool_id=POOL)
            agent.apply_agent(api, pool_id=POOL, agent=SETTINGS)
            join_secret.write_join_token(api, pool_id=POOL, token=Secret(JOIN_TOKEN))
            assert join_secret.read_join_token(api, pool_id=POOL) == Secret(JOIN_TOKEN)
            node_list.list_nodes(api, pool_id=POOL)
            return not agent.apply_agent(api, pool_id=POOL, agent=SETTINGS)

    def _tear_down(self) -> bool:
        with access.bootstrap_api(self.world.bootstrap()) as api:
            join_secret.delete_join_token(api, pool_id=POOL)
            if not agent.remove_agent(api, pool_id=POOL):
                return False
            claim.drop_claim(api, pool_id=POOL)
            return access.remove_access(api, pool_id=POOL)


class OnceAtEveryCall:
    """Strikes every call (by name and target) the first time that it is made."""

    def __init__(self, action: Error | LostReply) -> None:
        self.action = action
        self.struck: set[tuple[str, str]] = set()
        self.armed = False

    def before(self, call: Call, clock: Clock) -> None:
        self.armed = (call.name, call.target) not in self.struck
        self.struck.add((call.name, call.target))
        if self.armed:
            self.action.before(call, clock)

    def after(self, call: Call, clock: Clock) -> None:
        if self.armed:
            self.action.after(call, clock)


@pytest.mark.parametrize(
    "action",
    [LostReply(), Error(status=500, code="InternalError", message="etcdserver: request timed out")],
    ids=["lost reply", "server error"],
)
def test_a_failure_at_any_call_shows_no_token_and_is_healed_by_running_again(
    world: AnyWorld, caplog: pytest.LogCaptureFixture, action: Error | LostReply
) -> None:
    caplog.set_level(logging.DEBUG)
    world.cluster.put_node("a", labels={"better-compute.dev/substrate-pool": POOL})
    faults = OnceAtEveryCall(action)
    world.engine.faults.add("kubernetes", "*", faults, times=None)
    life = Life(world)
    life.run()
    assert life.failed == len(faults.struck) > 20
    assert world.leftovers() == []
    everything = "\n".join([*life.shown, *(record.getMessage() for record in caplog.records), caplog.text])
    assert "Starting new HTTPS connection" in everything
    assert [token for token in life.tokens if token in everything] == []


@contextmanager
def no_tls() -> Iterator[str]:
    """A server that answers a handshake with something else; its URL."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def answer() -> None:
            connection, _address = listener.accept()
            with connection:
                connection.recv(65536)
                connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

        thread = threading.Thread(target=answer, daemon=True)
        thread.start()
        yield f"https://127.0.0.1:{listener.getsockname()[1]}"
        thread.join(timeout=10)


def test_broken_tls_time_outs_and_refused_credentials_show_no_token(
    emulated_world: World, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = emulated_world
    caplog.set_level(logging.DEBUG)
    shown: list[str] = []
    opened = access.open_cluster(world.bootstrap(), pool_id=POOL, again=world.bootstrap)
    world.opened.append(opened)
    tokens = {BOOTSTRAP_TOKEN, JOIN_TOKEN, opened._token.reveal()}

    def fails(api: ClusterApi) -> None:
        with pytest.raises(ClusterError) as caught:
            join_secret.write_join_token(api, pool_id=POOL, token=Secret(JOIN_TOKEN))
        shown.extend([str(caught.value), repr(caught.value), *traceback.format_exception(caught.value), repr(api)])

    _url, other_ca = world.apis.start("other")
    with no_tls() as url:
        for endpoint, ca_pem in ((url, world.ca_pem), (world.url, other_ca), ("https://127.0.0.1:9", other_ca)):
            with ClusterApi(endpoint=endpoint, ca_pem=ca_pem, token=Secret(BOOTSTRAP_TOKEN)) as api:
                fails(api)
    agent.apply_agent(opened, pool_id=POOL, agent=SETTINGS)
    monkeypatch.setattr(door, "_READ_SECONDS", 0.1)
    unauthorized = Error(status=401, code="Unauthorized", message="Unauthorized")
    for action in (Delay(seconds=1), unauthorized, Error(status=403, code="Forbidden", message="no")):
        fault = world.engine.faults.add("kubernetes", "POST secrets", action, times=None)
        fails(opened)
        world.engine.faults.remove(fault)
    tokens.add(opened._token.reveal())
    assert len(tokens) == 4, "another credential was minted"
    everything = "\n".join([*shown, caplog.text, *(record.getMessage() for record in caplog.records)])
    assert "timed out" in everything
    assert [token for token in tokens if token in everything] == []
