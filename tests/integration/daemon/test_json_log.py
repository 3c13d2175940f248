# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The log of a process that really runs, as JSON: every line is an object, passes are told apart, nobody's secret."""

from __future__ import annotations

import json
import re
import signal
from collections.abc import Callable
from pathlib import Path

from ansible_collections.better_compute.fleet.emulators.aws.account import REGION
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.records import PoolRecord
from ansible_collections.better_compute.fleet.tests.support.api_client import api_client
from ansible_collections.better_compute.fleet.tests.support.daemon_process import daemon, environment_for
from ansible_collections.better_compute.fleet.tests.support.real_fleet import fast_world
from ansible_collections.better_compute.fleet.tests.support.wire_client import wire_client

CANARY = "canary" + "i" * 37
POOLS = 2


def test_every_line_is_an_object_and_those_of_a_pass_have_its_pool_and_id(
    store_url: str, due_pools: Callable[[int], list[PoolRecord]], tmp_path: Path
) -> None:
    pools = due_pools(POOLS)
    with fast_world() as world:
        secret = world.aws.operator.secret_access_key
        environment = environment_for(store_url, tmp_path) | {
            "AWS_ENDPOINT_URL": world.aws.url,
            "AWS_ACCESS_KEY_ID": world.aws.operator.access_key_id,
            "AWS_SECRET_ACCESS_KEY": secret,
            "AWS_DEFAULT_REGION": REGION,
            "BC_FLEET_API_LISTEN_PORT": "0",
            "BC_FLEET_LOG_FORMAT": "json",
            "BC_FLEET_LOG_LEVEL": "debug",
        }
        with daemon(environment) as process:
            assert process.stderr is not None
            lines: list[str] = []
            while sum("a pass ended" in line for line in lines) < POOLS or "bc-fleetd runs passes" not in str(lines):
                lines.append(process.stderr.readline())
                assert lines[-1], "it has ended by itself"
            [said] = [line for line in lines if "bc-fleetd runs passes" in line]
            gateway, api = (int(port) for port in re.findall(r"https://127.0.0.1:([0-9]+)", said))
            with wire_client(gateway) as client:
                assert client.join(token=CANARY).status == 401
            with api_client(api, CANARY) as client:
                assert client.call("kubernetesClusters/list", {"tenantId": "platform"}).status == 401
            process.send_signal(signal.SIGTERM)
            out, rest = process.communicate(timeout=30)
    assert (process.returncode, out) == (0, "")
    told = [json.loads(line) for line in [*lines, *rest.splitlines()]]
    assert all({"time", "level", "logger", "message"} <= set(line) for line in told)
    of_passes = [line for line in told if "pass" in line or "pool" in line]
    for pool in pools:
        own = [line["message"] for line in of_passes if line["pass"] == f"{pool.id[-8:]}-1"]
        assert own[0] == "a pass begins"
        assert "a pass ended" in own
        assert {line["pool"] for line in of_passes if line["pass"].startswith(pool.id[-8:])} == {pool.id}
    [ended, *_more] = [line for line in of_passes if line["message"] == "a pass ended"]
    assert isinstance(ended["seconds"], float)
    refused = [line for line in told if "was refused" in line["message"]]
    assert [line["address"] for line in refused] == ["127.0.0.1"] * 2
    assert [line for line in [*lines, *rest.splitlines()] if secret in line or CANARY in line] == []
