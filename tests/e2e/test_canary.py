# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""No secret is ever said or written: every one that comes to be is looked for wherever it must not be.

AWS keys and session tokens, presigned bearer tokens, TokenRequest tokens, join tokens, node identities, tokens of the
HTTP API, database passwords: in no output at `-vvvv` and `--debug`, no log, exception, diff, result, event or database,
and in no file but bcd's identity.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import logging
import ssl
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from ansible_collections.better_compute.fleet.emulators.aws.account import Credentials
from ansible_collections.better_compute.fleet.emulators.engine import Error, Hook, LostReply
from ansible_collections.better_compute.fleet.emulators.world import World
from ansible_collections.better_compute.fleet.plugins.module_utils._core.documents.load import parse_document
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import (
    OperationError,
    ProviderError,
    StoreUnavailable,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.secret import Secret
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations import api_tokens
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.fleet import plan_fleet
from ansible_collections.better_compute.fleet.plugins.module_utils._core.store import open_store
from ansible_collections.better_compute.fleet.tests.support.everything_logged import everything_logged
from ansible_collections.better_compute.fleet.tests.support.life import scene
from ansible_collections.better_compute.fleet.tests.support.life.fleet_at_hand import Fleet, fleet_at_hand
from ansible_collections.better_compute.fleet.tests.support.life.world import document, without_pools
from ansible_collections.better_compute.fleet.tests.support.real_fleet import CHECKOUT, fast_world, real_fleet
from ansible_collections.better_compute.fleet.tests.support.secret_watch import (
    ACCESS,
    API,
    BEARER,
    IDENTITY,
    JOIN,
    KEY,
    PASSWORD,
    SESSION,
    SecretWatch,
)

FLEET = CHECKOUT / "playbooks" / "fleet.yml"

USE = """\
- name: Use the fleet
  hosts: localhost
  connection: local
  gather_facts: false
  vars:
    ansible_python_interpreter: "{{ ansible_playbook_python }}"
  tasks:
    - name: Wait until every Node has joined
      better_compute.fleet.bc_substrate_info:
        pool: gpu-fleet
      register: looked
      until: looked.substrates[0].nodes_listed == 3 and looked.substrates[0].nodes_joined == 3
      retries: 120
      delay: 0.5
    - name: Book
      better_compute.fleet.bc_reservation:
        name: job
        pool: gpu-fleet
        gpus: 2
    - name: Release
      better_compute.fleet.bc_reservation:
        name: job
        pool: gpu-fleet
        state: absent
    - name: Look at everything
      better_compute.fleet.bc_fleet_info:
"""


@pytest.mark.e2e
def test_a_whole_life_with_ansible_and_the_daemon_says_and_writes_no_secret(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    declared, pruned, use = tmp_path / "fleet.json", tmp_path / "without-pools.json", tmp_path / "use.yml"
    declared.write_text(json.dumps(document()))
    pruned.write_text(json.dumps(without_pools()))
    use.write_text(USE)
    with fast_world() as world, everything_logged() as logged:
        watch = SecretWatch(world, monkeypatch)
        key = watch.role_key()
        watch.note(KEY, wrong := "wJalrXUtnFEMIK7MDENGbPxRfiCYWRONGWRONGKEY")
        refusal = Error(status=500, code="ServerException", message="Internal failure")
        broken = (("aws", "eks.CreateNodegroup"), ("kubernetes", "POST secrets"), ("kubernetes", "LIST nodes"))
        faults = [world.engine.faults.add(cloud, name, refusal) for cloud, name in broken]
        world.engine.faults.add(
            "kubernetes", "LIST nodes", Hook(on_before=lambda _call: watch.look_at_machines()), times=None
        )
        with real_fleet(world, tmp_path, key=key) as fleet:
            wrong_key = {"AWS_SECRET_ACCESS_KEY": wrong}
            assert fleet.ansible(FLEET, log="refused.log", environment=wrong_key, src=str(declared)) == 2, fleet.said()
            assert fleet.ansible(FLEET, use, log="declared.log", src=str(declared), wait_timeout=90) == 0, fleet.said()
            watch.look_at_machines()
            assert watch.leaking_machine_files() == {}
            assert fleet.ansible(FLEET, log="pruned.log", src=str(pruned), prune=True, wait_timeout=90) == 0
        assert world.engine.inventory.items() == ()
        assert all(fault.struck for fault in faults)
        assert set(watch.secrets) == {KEY, SESSION, BEARER, ACCESS, JOIN, IDENTITY}
        assert len(watch.secrets[IDENTITY]) == 3
        assert watch.unsafe_files == set()
        assert watch.leaking_files(tmp_path) == {}
        assert watch.leaks(logged()) == set()
    assert "level=debug" in fleet.said(), "the daemon said all that it can be made to say"


FAULTS: list[tuple[str, str, Error | LostReply]] = [
    ("aws", "eks.*", Error(status=500, code="ServerException", message="Internal failure")),
    ("aws", "*", Error(status=403, code="ExpiredTokenException", message="The security token is expired")),
    ("aws", "eks.*", LostReply()),
    ("kubernetes", "*", Error(status=500, code="InternalError", message="it broke")),
    ("kubernetes", "*", Error(status=401, code="Unauthorized", message="Unauthorized")),
    ("kubernetes", "LIST nodes", Error(status=401, code="Unauthorized", message="Unauthorized")),
    ("kubernetes", "POST serviceaccounts/token", Error(status=403, code="Forbidden", message="no")),
    ("kubernetes", "GET secrets", LostReply()),
    ("kubernetes", "LIST nodes", Error(status=410, code="Expired", message="too old")),
]
"""What goes wrong at each API, one after another."""


@contextmanager
def fleet_with_password(url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Fleet, SecretWatch]]:
    """A fleet whose database has a password, and which acts as an assumed role."""
    password = "correct-horse-battery-staple"
    watches: list[SecretWatch] = []

    def credentials(world: World) -> Credentials:
        watches.append(SecretWatch(world, monkeypatch))
        return watches[0].role_key()

    with scene(url.replace("://postgres@", f"://postgres:{password}@"), credentials=credentials) as stage:
        [watch] = watches
        watch.note(PASSWORD, password)
        for name, value in stage.environment.items():
            if name.startswith("AWS_"):
                monkeypatch.setenv(name, value)
        yield fleet_at_hand(stage), watch


def join_with(fleet: Fleet, token: str) -> int:
    """Ask the gateway to join with a token; the status of its answer."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    connection = http.client.HTTPSConnection("127.0.0.1", fleet.scene.gateway.port, context=context, timeout=10)
    with contextlib.closing(connection):
        body = {"nonce": "a" * 22, "identity": "b" * 43, "hostname": "node", "inventory": {"os": {}, "devices": []}}
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        connection.request("POST", "/v1/join", body=json.dumps(body), headers=headers)
        return connection.getresponse().status


def call_with_tokens(fleet: Fleet, watch: SecretWatch) -> list[str]:
    """Issue a token of the HTTP API, and have it and others let in or refused; gives all that was said of them."""
    issued = api_tokens.issue(fleet.session, name="ci", tenant="platform", permissions=["compute:kubernetes:read"])
    said = [repr(issued), repr(api_tokens.authenticate(fleet.session, issued.token))]
    watch.note(API, issued.token.reveal(), unknown := "bca_" + "u" * 43, mistyped := "bca_this-is-not-whole")
    api_tokens.revoke(fleet.session, which=issued.token.reveal())
    for token in (issued.token, Secret(unknown), Secret(mistyped)):
        with pytest.raises(api_tokens.TokenRefused) as refused:
            api_tokens.authenticate(fleet.session, token)
        said += [*traceback.format_exception(refused.value), refused.value.reason]
    for which in (unknown, mistyped):
        with pytest.raises(OperationError) as not_found:
            api_tokens.revoke(fleet.session, which=which)
        said += traceback.format_exception(not_found.value)
    return said


def test_failures_at_every_api_say_no_secret(postgresql_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    with (
        fleet_with_password(postgresql_url, monkeypatch) as (fleet, watch),
        everything_logged() as logged,
    ):
        fleet.join_all(document())
        watch.look_at_machines()
        faults = fleet.scene.engine.faults
        for cloud, name, action in FAULTS:
            fault = faults.add(cloud, name, action, times=None)
            fleet.apply(document(), prune=True)
            view = fleet.one_pass()
            assert fault.struck, f"{name} was never called"
            said += [view.record.message, json.dumps(view.to_data())]
            with contextlib.suppress(ProviderError):
                plan_fleet(fleet.session, parse_document(document()), prune=False, refresh=True)
            faults.remove(fault)
        watch.note(JOIN, token := "bcj_this-token-is-no-pools-and-nobody-may-repeat-it")
        assert join_with(fleet, token) in (400, 401)
        said += call_with_tokens(fleet, watch)
        with pytest.raises(StoreUnavailable) as unavailable:
            open_store(fleet.scene.database_url.replace("host=", "host=/nowhere"))
        said += traceback.format_exception(unavailable.value)
        said += [repr(fleet.session.store), repr(fleet.rows()), repr(fleet.session.settings.agent)]
        assert set(watch.secrets) == {KEY, SESSION, BEARER, ACCESS, JOIN, IDENTITY, PASSWORD, API}
        assert watch.leaks("\n".join(said)) == set()
        assert watch.leaks(logged()) == set()


def test_the_watch_finds_a_secret_that_is_written_down(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with fast_world() as world, everything_logged() as logged:
        watch = SecretWatch(world, monkeypatch)
        token = watch.role_key().session_token
        logging.getLogger("careless").debug("the token is %s", token)
        (tmp_path / "state.log").write_text(f"token={token}\n")
        assert watch.leaks(logged()) == {SESSION}
        assert watch.leaking_files(tmp_path) == {"state.log": {SESSION}}
