# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What another process can do to the machines of an emulated world: the control calls over HTTP."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from urllib.error import HTTPError
from urllib.request import ProxyHandler, Request, build_opener

import pytest

from ansible_collections.better_compute.fleet.emulators.control import ControlApi
from ansible_collections.better_compute.fleet.emulators.engine import Engine
from ansible_collections.better_compute.fleet.tests.integration.machines.conftest import TIMES, VirtualWorld


@pytest.fixture
def control(world: VirtualWorld) -> Iterator[ControlApi]:
    api = ControlApi(Engine(world.clock), world.machines)
    yield api
    api.stop()


def post(url: str, body: Any = None) -> tuple[int, Any]:
    """Status and document of the answer."""
    data = b"" if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
    try:
        with build_opener(ProxyHandler({})).open(Request(url, data=data, method="POST"), timeout=30) as response:
            return response.status, json.load(response)
    except HTTPError as error:
        with error:
            return error.code, json.load(error)


def test_the_machines_are_listed(world: VirtualWorld, control: ControlApi) -> None:
    machine = world.launch()
    with build_opener(ProxyHandler({})).open(f"{control.url}/machines", timeout=30) as response:
        (listed,) = json.load(response)["machines"]
    assert (listed["instanceId"], listed["nodeName"], listed["gpus"]) == (machine.instance_id, machine.node_name, 2)


def test_a_machine_is_cut_off_and_mended_stopped_and_started_renamed_and_replaced(
    world: VirtualWorld, control: ControlApi
) -> None:
    machine = world.join_one()
    of_it = f"{control.url}/machines/{machine.instance_id}"

    def heard(call: str, body: Any = None, *, wait: float = 60) -> int:
        assert post(f"{of_it}/{call}", body) == (202, {"machines": [machine.instance_id]})
        before = world.heartbeats()
        world.advance(wait)
        return world.heartbeats() - before

    assert heard("cut-off") == 0
    assert heard("mend") > 0
    assert heard("stop") == 0
    assert heard("start", wait=TIMES.boot_seconds + 30) > 0
    assert heard("rename", {"hostname": "other", "nodeName": "another"}) > 0
    assert world.node_names == ["another", machine.node_name]
    assert heard("replace-node", {"afterSeconds": 30}, wait=29) > 0
    assert world.node_names == [machine.node_name]
    assert heard("replace-machine", {"afterSeconds": 30}) == 0
    assert world.node_names == ["another"]
    assert heard("preempt", wait=TIMES.spot_notice_seconds) == 0
    assert world.machines.running() == ()
    other = world.launch(2)
    assert post(f"{control.url}/machines/{other.instance_id}/lose")[0] == 202
    assert world.machines.running() == ()


@pytest.mark.parametrize(
    ("call", "body", "told"),
    [
        ("stop", {"afterSeconds": 1}, "afterSeconds is unknown here; known are: none."),
        ("rename", {"nodeName": ""}, "nodeName must be a string that is not empty."),
        ("replace-node", {"afterSeconds": -1}, "afterSeconds must be a number of at least 0."),
        ("replace-node", {"afterSeconds": True}, "afterSeconds must be a number of at least 0."),
        ("replace-node", b'{"afterSeconds": NaN}', "afterSeconds must be a number of at least 0."),
        ("replace-machine", [1], "The body must be a JSON object."),
        ("replace-machine", b"{", "Expecting property name"),
    ],
)
def test_what_makes_no_sense_is_refused_in_words(
    world: VirtualWorld, control: ControlApi, call: str, body: Any, told: str
) -> None:
    machine = world.launch()
    status, document = post(f"{control.url}/machines/{machine.instance_id}/{call}", body)
    assert status == 400
    assert document["message"].startswith(told)


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("machines/i-unknown/stop", "There is no machine i-unknown."),
        ("machines/i-unknown/explode", "There is no POST /machines/i-unknown/explode."),
        ("machines", "There is no POST /machines."),
    ],
)
def test_a_machine_or_call_that_does_not_exist_is_not_found(control: ControlApi, path: str, told: str) -> None:
    assert post(f"{control.url}/{path}") == (404, {"message": told})
