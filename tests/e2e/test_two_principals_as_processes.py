# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""bc-fleetd as one AWS principal and a person's Ansible runs as another: processes on one pool and one SQLite file."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import boto3
import pytest

from ansible_collections.better_compute.fleet.emulators.aws.account import REGION, Credentials
from ansible_collections.better_compute.fleet.emulators.world import World
from ansible_collections.better_compute.fleet.tests.support.life.world import document
from ansible_collections.better_compute.fleet.tests.support.real_fleet import CHECKOUT, fast_world, real_fleet

pytestmark = pytest.mark.e2e

DAEMON_ROLE = "arn:aws:iam::111111111111:role/fleet-daemon"
FLEET = CHECKOUT / "playbooks" / "fleet.yml"
NODE_ROLE = "arn:aws:iam::111111111111:role/eks-node"
PATIENCE_SECONDS = 90

DAEMON_PASSES_SECONDS = 6
"""The daemon of real_fleet comes to a settled pool every five."""

EDIT = """\
- hosts: localhost
  connection: local
  gather_facts: false
  vars:
    ansible_python_interpreter: "{{ ansible_playbook_python }}"
  tasks:
    - name: Give the flavor another machine in each zone
      better_compute.fleet.bc_substrate:
        pool: gpu-fleet
        flavors:
          - name: h100
            nodes: 2
        wait_timeout: 90
      register: edited
    - name: Once more
      better_compute.fleet.bc_substrate:
        pool: gpu-fleet
        flavors:
          - name: h100
            nodes: 2
      register: again
    - name: Tell
      ansible.builtin.copy:
        content: "{{ {'edited': edited, 'again': again} | to_json }}"
        dest: "{{ results }}"
        mode: "0600"
"""


def client(world: World, service: Any, key: Credentials) -> Any:
    """boto3, with somebody's key."""
    return boto3.client(
        service,
        region_name=REGION,
        endpoint_url=world.aws.url,
        aws_access_key_id=key.access_key_id,
        aws_secret_access_key=key.secret_access_key,
    )


def test_each_gets_in_by_an_entry_of_its_own_an_edit_is_converged_once_and_then_nobody_writes(tmp_path: Path) -> None:
    declared, edit, results = tmp_path / "fleet.json", tmp_path / "edit.yml", tmp_path / "results.json"
    declared.write_text(json.dumps(document()))
    edit.write_text(EDIT)
    with fast_world() as world:
        operator = world.aws.operator
        role = client(world, "sts", operator).assume_role(RoleArn=DAEMON_ROLE, RoleSessionName="bc-fleetd")
        daemon = world.aws.account.credentials(role["Credentials"]["AccessKeyId"])
        assert daemon is not None
        person = world.aws.account.user("anna")
        as_person = {
            "AWS_ACCESS_KEY_ID": person.access_key_id,
            "AWS_SECRET_ACCESS_KEY": person.secret_access_key,
            "AWS_SESSION_TOKEN": "",
        }
        with real_fleet(world, tmp_path, key=daemon) as fleet:
            first = fleet.ansible(FLEET, log="first.log", environment=as_person, src=str(declared), wait_timeout=90)
            assert first == 0, fleet.said()
            second = fleet.ansible(edit, log="edit.log", environment=as_person, results=str(results))
            assert second == 0, fleet.said()
            told = json.loads(results.read_text())
            assert [told[name]["changed"] for name in ("edited", "again")] == [True, False]
            assert told["edited"]["substrate"]["state"] == "ready"
            [cluster] = client(world, "eks", operator).list_clusters()["clusters"]
            wait_until_nobody_writes(world)
            # Who had the lease got in by an entry of its own; in such a short life that may have been the daemon alone.
            entries = set(client(world, "eks", operator).list_access_entries(clusterName=cluster)["accessEntries"])
            assert DAEMON_ROLE in entries
            assert entries <= {DAEMON_ROLE, person.principal_arn, NODE_ROLE}
            mark = world.engine.log.mark
            third = fleet.ansible(edit, log="third.log", environment=as_person, results=str(results))
            assert third == 0, fleet.said()
            assert not json.loads(results.read_text())["edited"]["changed"]
            time.sleep(DAEMON_PASSES_SECONDS)
            assert [entry.call.name for entry in world.engine.log.writes(after=mark)] == []
            assert world.engine.log.mark > mark, "the daemon looked"


def wait_until_nobody_writes(world: World) -> None:
    """Until the daemon has passed over the pool and found nothing to do."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline:
        mark = world.engine.log.mark
        time.sleep(DAEMON_PASSES_SECONDS)
        if world.engine.log.mark > mark and not world.engine.log.writes(after=mark):
            return
    pytest.fail("somebody writes for ever")
