# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""ansible-playbook and ansible themselves, as a person starts them: which file is read, and what is printed."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.better_compute.fleet.tests.support.fleet_documents import put
from ansible_collections.better_compute.fleet.tests.support.life.world import document, without_pools

pytestmark = pytest.mark.e2e

CHECKOUT = Path(__file__).resolve().parents[2]
BIN = Path(sys.executable).parent
PLAYBOOK = CHECKOUT / "playbooks" / "fleet.yml"
AGENT = {
    "BC_FLEET_AGENT_IMAGE": "registry.example/bcd:1",
    "BC_FLEET_AGENT_GATEWAY_URL": "https://127.0.0.1:9443",
    "BC_FLEET_AGENT_PINS": "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",
    "BC_FLEET_RECONCILE_CONVERGING_SECONDS": "1",
    "BC_FLEET_RECONCILE_DELETING_SECONDS": "1",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """A person's folder and environment."""

    folder: Path
    database: Path
    environment: dict[str, str]

    def write(self, name: str, content: str) -> Path:
        file = self.folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content)
        return file

    def start(self, program: str, *arguments: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [str(BIN / program), *arguments],
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def run(self, program: str, *arguments: str) -> tuple[int, str]:
        """The exit status and all that was printed."""
        with self.start(program, *arguments) as process:
            printed, _ = process.communicate(timeout=120)
        return process.returncode, printed

    def module(self, name: str, arguments: dict[str, Any], *options: str) -> dict[str, Any]:
        """An ad-hoc run; the module's result."""
        module = f"better_compute.fleet.{name}"
        _, printed = self.run("ansible", "localhost", "-m", module, "-a", json.dumps(arguments), *options)
        result: dict[str, Any] = json.loads(printed[printed.index("=> {") + 3 :])
        return result


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """A folder with nothing in it, and a fleet's records beside it."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "BC_FLEET_", "ANSIBLE_"))}
    folder = tmp_path / "desk"
    folder.mkdir()
    database = tmp_path / "fleet.db"
    environment = {
        **kept,
        **AGENT,
        "ANSIBLE_COLLECTIONS_PATH": str(CHECKOUT / "build"),
        "ANSIBLE_HOME": str(tmp_path / "ansible"),
        "ANSIBLE_INJECT_INVOCATION": "true",  # as every ansible-core before 2.21 does
        "ANSIBLE_LOCALHOST_WARNING": "false",
        "ANSIBLE_NOCOLOR": "true",
        "BC_FLEET_STORE_DATABASE_URL": f"sqlite:///{database}",
        # A shell's PWD is a guess of who started it: what counts is where the process is.
        "PWD": "/",
    }
    return Desk(folder=folder, database=database, environment=environment)


@pytest.fixture
def cloud(desk: Desk) -> Iterator[Desk]:
    """The same with an emulated AWS that is in a hurry, as a process of its own."""
    command = [sys.executable, "-m", "ansible_collections.better_compute.fleet.emulators"]
    with subprocess.Popen(
        [*command, "--haste", "180", "--while-stdin-is-open"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        aws = json.loads(process.stdout.readline())["aws"]
        desk.environment.update(
            AWS_ENDPOINT_URL=aws["endpoint_url"],
            AWS_ACCESS_KEY_ID=aws["access_key_id"],
            AWS_SECRET_ACCESS_KEY=aws["secret_access_key"],
        )
        yield desk
        process.communicate(timeout=20)


def test_the_playbook_converges_a_file_of_the_folder_it_is_run_in_and_then_changes_nothing(cloud: Desk) -> None:
    cloud.write("fleet.json", json.dumps(document()))
    status, printed = cloud.run("ansible-playbook", str(PLAYBOOK), "-e", "src=fleet.json", "-vvv")
    assert status == 0, printed
    assert "gpu-fleet is ready: " in printed
    assert "changed=1" in printed
    assert cloud.environment["AWS_SECRET_ACCESS_KEY"] not in printed
    assert "Traceback" not in printed
    status, printed = cloud.run("ansible-playbook", str(PLAYBOOK), "-e", "src=fleet.json", "--check", "--diff")
    assert status == 0, printed
    assert "changed=0" in printed
    assert "gpu-fleet is ready: " in printed
    resized = put(document(), "pools.0.policy.substrate.flavors.0.nodes", 2)
    cloud.write("fleet.json", json.dumps(resized))
    status, printed = cloud.run("ansible-playbook", str(PLAYBOOK), "-e", "src=fleet.json", "--check", "--diff")
    assert status == 0, printed
    assert [line.strip() for line in printed.splitlines() if line.startswith(("-  ", "+  "))] == [
        '-        "nodes": 1',
        '+        "nodes": 2',
    ]
    assert '"node_pool gpu-fleet/h100": {' in printed


def test_an_interrupted_run_gives_its_lease_back_and_the_next_one_goes_on(cloud: Desk) -> None:
    cloud.write("fleet.json", json.dumps(document()))
    with cloud.start("ansible-playbook", str(PLAYBOOK), "-e", "src=fleet.json") as waiting:
        wait_for(cloud, "SELECT count(*) FROM clusters WHERE state = 'provisioning'", 1)
        waiting.send_signal(signal.SIGINT)
        printed, _ = waiting.communicate(timeout=30)
    assert "Traceback" not in printed
    wait_for(cloud, "SELECT count(*) FROM work WHERE holder IS NOT NULL", 0)
    done = cloud.module("bc_fleet", {"src": "fleet.json"})
    assert (done["changed"], done["substrates"][0]["state"]) == (False, "ready")


def test_node_pools_are_looked_at_first_and_brought_about_where_something_is_to_be_done(cloud: Desk) -> None:
    cloud.module("bc_fleet", {"config": document()})
    wanted = {"pool": "gpu-fleet", "node_pools": [{"name": "extra", "machine_type": "m7i.large", "node_count": 0}]}
    checked = cloud.module("bc_nodepool", wanted, "--check")
    assert (checked["changed"], checked["node_pools"]) == (True, [])
    done = cloud.module("bc_nodepool", wanted)
    assert (done["changed"], done["node_pools"][0]["state"]) == (True, "ready")
    calls_nobody = {"AWS_ENDPOINT_URL": "http://127.0.0.1:9"}
    again = Desk(folder=cloud.folder, database=cloud.database, environment=cloud.environment | calls_nobody)
    for options in ([], ["--check"], ["--background", "60", "--poll", "1"]):
        result = again.module("bc_nodepool", wanted, *options)
        assert (result["changed"], result["node_pools"]) == (False, done["node_pools"])
        assert "settled" not in result, "the look's own word stays with it"
    refused = again.module("bc_nodepool", {**wanted, "pool": "nobodys"})
    assert refused["code"] == "NOT_FOUND"
    gone = cloud.module("bc_nodepool", {**wanted, "state": "absent"})
    assert (gone["changed"], gone["node_pools"]) == (True, [])


def test_a_tenants_cluster_is_made_read_and_deleted(cloud: Desk) -> None:
    cloud.environment.update({f"BC_FLEET_RECONCILE_{name}_SECONDS": "5" for name in ("CONVERGING", "DELETING")})
    cloud.module("bc_fleet", {"config": without_pools()})
    wanted = {"name": "web", "account": "managed-k8s", "location": "us-east-1", "version": "1.33"}
    made = cloud.module("bc_cluster", {"tenant": "acme", "clusters": [wanted]})
    assert (made["changed"], made["clusters"][0]["running_version"]) == (True, "1.33")
    assert cloud.module("bc_cluster_info", {"tenant": "acme"})["clusters"] == made["clusters"]
    kubeconfig = cloud.folder / "kubeconfig"
    asked = {"tenant": "acme", "cluster_id": made["clusters"][0]["id"], "dest": str(kubeconfig)}
    module = "better_compute.fleet.bc_cluster_credentials"
    let_in = json.dumps({**asked, "namespaces": ["work"]})
    code, printed = cloud.run("ansible", "localhost", "-m", module, "-a", let_in, "-vvvv", "--diff")
    assert (code, kubeconfig.stat().st_mode & 0o777) == (0, 0o600), printed
    token = kubeconfig.read_text().split("token: ")[1].split("\n")[0]
    assert len(token) > 20
    assert token not in printed
    assert not cloud.module("bc_cluster_credentials", {**asked, "namespaces": ["work"]})["changed"]
    assert cloud.module("bc_cluster_credentials", {**asked, "state": "absent"})["changed"]
    assert not kubeconfig.exists()
    gone = cloud.module("bc_cluster", {"tenant": "acme", "clusters": [{"name": "web"}], "state": "absent"})
    assert (gone["changed"], gone["clusters"]) == (True, [])


def wait_for(desk: Desk, question: str, answer: int) -> None:
    """Look at the records until they say so; half a lease is too long."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        with (
            suppress(sqlite3.OperationalError),
            closing(sqlite3.connect(desk.database)) as records,
        ):
            if records.execute(question).fetchone() == (answer,):
                return
        time.sleep(0.1)
    pytest.fail(f"{question}: never {answer}")


def test_an_ad_hoc_run_reads_a_file_of_the_folder_it_is_run_in(desk: Desk) -> None:
    desk.write("declared/fleet.yml", json.dumps(document()))
    result = desk.module("bc_fleet", {"src": "declared/fleet.yml", "refresh": False}, "--check")
    assert result["plan"]["totals"]["create"] > 0


def play(desk: Desk, sources: Sequence[dict[str, Any]], *options: str) -> tuple[str, list[dict[str, Any]]]:
    """Plan each of these in a play of its own in plays/; what was printed, and the results."""
    tasks: list[dict[str, Any]] = [
        {
            "better_compute.fleet.bc_fleet": {**arguments, "refresh": False},
            "check_mode": True,
            "ignore_errors": True,
            "register": f"result_{number}",
        }
        for number, arguments in enumerate(sources)
    ]
    results = ", ".join(f"result_{number}" for number in range(len(sources)))
    kept = {"content": f"{{{{ [{results}] | to_json }}}}", "dest": str(desk.folder / "results.json"), "mode": "0600"}
    playbook = desk.write(
        "plays/site.yml",
        json.dumps([{"hosts": "localhost", "gather_facts": False, "tasks": [*tasks, {"ansible.builtin.copy": kept}]}]),
    )
    status, printed = desk.run("ansible-playbook", str(playbook), "-vvv", *options)
    assert status == 0, printed
    return printed, json.loads((desk.folder / "results.json").read_text())


def test_a_play_reads_its_own_files_vault_files_and_those_on_the_target(desk: Desk) -> None:
    def named(name: str) -> str:
        return json.dumps(put(document(quotas=[]), "pools.0.name", name))

    password = desk.write("password", "correct horse")
    vault = ("--vault-password-file", str(password))
    desk.write("fleet.json", named("in-the-folder"))
    desk.write("plays/files/fleet.json", named("beside-the-play"))
    secret = desk.write("plays/secret.json", named("in-a-vault"))
    status, printed = desk.run("ansible-vault", "encrypt", *vault, str(secret))
    assert status == 0, printed
    assert secret.read_text().startswith("$ANSIBLE_VAULT")
    there = desk.write("there.json", named("on-the-target"))
    sources: list[dict[str, Any]] = [
        {"src": "fleet.json"},
        {"src": "secret.json"},
        {"src": str(there), "remote_src": True},
    ]
    printed, results = play(desk, sources, *vault)
    pools = [
        [change["name"] for change in result["plan"]["changes"] if change["resource"] == "pool"] for result in results
    ]
    assert pools == [["beside-the-play"], ["in-a-vault"], ["on-the-target"]]
    assert printed.count('"config": null') == len(sources)


def test_a_document_that_cannot_be_used_is_told_in_words_and_not_in_a_traceback(desk: Desk) -> None:
    bad = {
        "invalid.json": (
            b'{"version": 1, "pools": [{"name": "x"}], "foo": 1}',
            "\ninvalid.json: pools[0].gpuModel: is required, and is not there\ninvalid.json: foo: unknown key; ",
        ),
        "cut.json": (b'{"version": 1,', "cut.json: not JSON: "),
        "surprise.yml": (
            b"version: 1\nsites:\n  - name: no\n",
            "surprise.yml: sites[0].name: YAML readers differ ",
        ),
        "list.yml": (b"- 1\n", "list.yml: expected a FleetConfig (a mapping)"),
        "binary.json": (b'{"version": "\xff\xfe"}', "binary.json is not UTF-8 text"),
        "long.yml": (b"#" * (17 * 1024 * 1024), "long.yml is too large: a document has at most 16 MiB"),
        "nul.json": (b"\0", "not JSON: "),
        "locked.json": (b"$ANSIBLE_VAULT;1.1;AES256\n6130\n", "the document locked.json cannot be read: "),
    }
    (desk.folder / "plays").mkdir()
    for name, (content, _) in bad.items():
        (desk.folder / "plays" / name).write_bytes(content)
    printed, results = play(desk, [{"src": name} for name in (*bad, ".", "/dev/zero", "none.json")])
    for (name, (_, told)), result in zip(bad.items(), results, strict=False):
        assert told in result["msg"], name
    assert results[-3]["msg"].endswith("cannot be read: Is a directory")
    assert results[-2]["msg"] == "/dev/zero is too large: a document has at most 16 MiB"
    assert results[-1]["msg"].startswith("the document none.json cannot be read: Could not find or access")
    assert all(result["failed"] and not result["changed"] for result in results)
    assert "Traceback" not in printed
