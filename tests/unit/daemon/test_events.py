# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""`bc-fleetd events`: what it shows, how a program reads on, and what the command ends with."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.better_compute.fleet.daemon.command_line import main
from ansible_collections.better_compute.fleet.plugins.module_utils._core.documents.settings import load_settings
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.ids import PLATFORM_TENANT, PoolId
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.session import Session, open_session
from ansible_collections.better_compute.fleet.plugins.module_utils._core.store import clusters, events, fleet
from ansible_collections.better_compute.fleet.tests.support import rows

Capture = pytest.CaptureFixture[str]

UNKNOWN_EVENT = "evt_01jb2k3m4n5p6q7r8s9t0v1w2x"


@pytest.fixture
def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Session]:
    """A session on the database that the command uses."""
    for name in [name for name in os.environ if name.startswith("BC_FLEET_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("BC_FLEET_STORE_DATABASE_URL", f"sqlite:///{tmp_path / 'fleet.db'}")
    with open_session(load_settings()) as opened:
        yield opened


@pytest.fixture
def pool_id(session: Session) -> PoolId:
    """A pool whose cluster's node pool was created, refused and made."""
    pool = rows.pool()
    cluster = rows.cluster(pool.id)
    with session.store.write() as tx:
        fleet.put_pool(tx, pool)
        clusters.add_cluster(tx, cluster)
    for kind, message in (("created", ""), ("error", 'no "p5" left\x1b[2J'), ("ready", "")):
        tell(session, f"kubernetes.nodepool.{kind}", cluster.id, name="h100", message=message)
    return pool.id


def tell(session: Session, kind: str, subject: str, **data: str) -> None:
    with session.store.write() as tx:
        events.publish(tx, tenant_id=PLATFORM_TENANT, subject=subject, type=kind, data=data)


def shown(capsys: Capture, *arguments: str) -> list[dict[str, Any]]:
    assert main(["events", "--json", *arguments]) == 0
    found: list[dict[str, Any]] = json.loads(capsys.readouterr().out)["events"]
    return found


def kinds(found: list[dict[str, Any]]) -> list[str]:
    return [one["type"].rpartition(".")[2] for one in found]


def test_a_line_says_when_what_where_and_the_rest_without_steering_the_terminal(
    session: Session, pool_id: PoolId, capsys: Capture
) -> None:
    assert main(["events"]) == 0
    created, refused, _ready = capsys.readouterr().out.splitlines()
    head = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ evt_\w{26} kubernetes\.nodepool"
    assert re.fullmatch(head + r"\.created gpu-fleet kcl_\w{26} name=h100", created)
    assert re.fullmatch(head + r'\.error gpu-fleet kcl_\w{26} name=h100 message="no \\"p5\\" left\\u001b\[2J"', refused)


def test_as_json_an_event_has_all_its_fields(session: Session, pool_id: PoolId, capsys: Capture) -> None:
    _created, _refused, ready = shown(capsys)
    assert ready.pop("id").startswith("evt_")
    assert ready.pop("at").endswith("Z")
    assert ready.pop("subject").startswith("kcl_")
    assert ready == {
        "type": "kubernetes.nodepool.ready",
        "tenant_id": "platform",
        "pool": "gpu-fleet",
        "pool_id": pool_id,
        "data": {"name": "h100", "message": ""},
    }


def test_a_program_reads_on_from_the_last_one_that_it_knows(session: Session, pool_id: PoolId, capsys: Capture) -> None:
    [last] = shown(capsys, "--limit", "1")
    assert kinds([last]) == ["ready"]
    assert shown(capsys, "--since", last["id"]) == []
    tell(session, "node.retired", "node_x")
    tell(session, "node.retired.again", "node_x")
    [following] = shown(capsys, "--since", last["id"], "--limit", "1")
    assert kinds([following]) == ["retired"]
    assert kinds(shown(capsys, "--since", following["id"])) == ["again"]


def test_one_pools_events_are_found_by_its_name_and_its_id(session: Session, pool_id: PoolId, capsys: Capture) -> None:
    tell(session, "kubernetes.cluster.ready", "kcl_of-nobody", name="tenants-own")
    assert shown(capsys)[-1]["pool"] is None
    for pool in ("gpu-fleet", pool_id):
        assert kinds(shown(capsys, "--pool", pool)) == ["created", "error", "ready"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--pool", "gpu-fleeet"], "there is no pool 'gpu-fleeet'"),
        (["--pool", "pool_01jb2k3m4n5p6q7r8s9t0v1w2x"], "there is no pool"),
        (["--since", UNKNOWN_EVENT], f"there is no event '{UNKNOWN_EVENT}'"),
        (["--since", "yesterday\x00"], "there is no event 'yesterday"),
    ],
)
def test_what_there_is_not_has_to_be_set_right_first(
    session: Session, pool_id: PoolId, capsys: Capture, arguments: list[str], said: str
) -> None:
    assert main(["events", *arguments]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert said in told.err


@pytest.mark.parametrize("limit", ["0", "-1", "10001", "many", "²"])
def test_a_limit_that_is_none_is_refused(capsys: Capture, limit: str) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["events", "--limit", limit])
    assert ended.value.code == 2
    assert "expected 1 to 10000" in capsys.readouterr().err


def test_a_fleet_to_which_nothing_happened_shows_nothing(session: Session, capsys: Capture) -> None:
    assert main(["events"]) == 0
    assert capsys.readouterr().out == ""
