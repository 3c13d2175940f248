# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""`bc-fleetd nodes`: what it shows of machines and bookings, and what the command ends with."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.better_compute.fleet.daemon.command_line import main
from ansible_collections.better_compute.fleet.daemon.commands.nodes import print_table
from ansible_collections.better_compute.fleet.plugins.module_utils._core.documents.settings import load_settings
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.ids import TenantId
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.liveness import Liveness
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.states import NodeState, ReservationState
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.booking_list import BookingView
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.machine_list import (
    MachineList,
    MachineView,
    WaitingNodes,
    list_machines,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.session import Session, open_session
from ansible_collections.better_compute.fleet.plugins.module_utils._core.store import fleet, pool_nodes, reservations
from ansible_collections.better_compute.fleet.tests.support import rows
from ansible_collections.better_compute.fleet.tests.support.rows import START

Capture = pytest.CaptureFixture[str]

POOL = rows.pool()
EMPTY = MachineList(now=START, machines=(), waiting=(), pending=())


def booking(name: str | None = "train-1", **different: Any) -> BookingView:
    record = rows.reservation(POOL.id, tenant_id=TenantId("acme"), **different)
    return BookingView(record=record, pool=POOL.name, name=name, booked_by=None, node_name=None)


def machine(*bookings: BookingView, connection: Liveness = Liveness.CONNECTED, **different: Any) -> MachineView:
    node = rows.node(POOL.id, **{"state": NodeState.MATCHED, "node_name": "ip-1", **different})
    return MachineView(record=node, pool=POOL, connection=connection, bookings=bookings)


def table(found: MachineList, *, width: int | None = None) -> list[str]:
    """What is printed, without rules and empty lines."""
    written = io.StringIO()
    print_table(found, to=written, width=width)
    return [line.rstrip() for line in written.getvalue().splitlines() if line.strip() and "─" not in line]


def of(*machines: MachineView, **different: Any) -> MachineList:
    return replace(EMPTY, machines=machines, **different)


def test_each_machine_is_a_row_with_its_gpus_and_each_of_its_bookings_a_line_in_it() -> None:
    held = booking(device_ids=("GPU-1",), gpus=1), booking(None, gpus=2)
    heading, row, second = table(of(machine(*held)))
    assert heading.split() == ["Node", "State", "bcd", "GPUs", "Booked", "Bookings"]
    assert row.split() == ["ip-1", "matched", "connected", "2", "H100", "1", "acme/train-1,", "1", "GPU"]
    assert second.split() == [f"acme/{held[1].record.id},", "2", "GPUs"]


def test_where_there_are_machines_of_several_pools_each_row_names_its_own() -> None:
    other = machine()
    other = replace(other, record=rows.node(rows.pool().id), pool=rows.pool(name="other"))
    heading, first, second = table(of(machine(), other))
    assert [line.split()[0] for line in (heading, first, second)] == ["Pool", "gpu-fleet", "other"]


def test_spot_machines_and_bookings_are_called_so() -> None:
    row = table(of(machine(booking(spot=True), spot=True)))[1]
    assert "matched, Spot" in row
    assert "acme/train-1, 2 Spot GPUs" in row


@pytest.mark.parametrize(
    ("silence", "shown"),
    [
        (timedelta(seconds=-3), "0 s"),
        (timedelta(seconds=119), "119 s"),
        (timedelta(minutes=2), "2 min"),
        (timedelta(minutes=119), "119 min"),
        (timedelta(hours=47), "47 h"),
        (timedelta(days=3), "3 d"),
    ],
)
def test_how_long_a_machine_is_silent_is_told_in_one_unit(silence: timedelta, shown: str) -> None:
    row = table(of(machine(connection=Liveness.DISCONNECTED), now=START + silence))[1]
    assert f" disconnected, {shown} 2 H100 " in " ".join(row.split())


def test_what_has_no_machine_yet_stands_below_the_table() -> None:
    waiting = WaitingNodes(pool=POOL, nodes=3, since=START)
    pending = booking("train-2", gpus=8, message="no node of the pool has joined yet")
    shown = table(of(machine(), waiting=(waiting,), pending=(pending,), now=START + timedelta(minutes=5)))
    assert shown[-2:] == [
        "gpu-fleet: 3 listed Nodes have no joined bcd, none has joined for 5 min",
        "gpu-fleet: acme/train-2, 8 GPUs, has waited for a place for 5 min: no node of the pool has joined yet",
    ]


def test_no_machine_is_a_sentence() -> None:
    assert table(EMPTY) == ["No machine has joined, or those that did are gone."]


def test_on_a_narrow_terminal_bookings_stand_below_the_table_and_nothing_is_cut_off() -> None:
    name = "ip-10-0-64-101.eu-central-1.compute.internal"
    shown = table(of(machine(booking(), node_name=name)), width=80)
    assert max(len(line) for line in shown[:-1]) <= 80
    cells = [line.split() for line in shown[1:-1]]
    assert "".join(line[0] for line in cells) == name
    assert shown[-1] == f"{name}: acme/train-1, 2 GPUs"


def test_what_a_machine_says_of_itself_does_not_steer_the_terminal() -> None:
    shown = "\n".join(table(of(machine(node_name=None, reported_node_name="[red]\x1b[2Jname"))))
    assert "\x1b" not in shown
    assert "[red] [2Jname" in shown


@pytest.fixture
def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Session]:
    """A session on the database that the command uses, with two pools that have a machine each."""
    for name in [name for name in os.environ if name.startswith("BC_FLEET_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("BC_FLEET_STORE_DATABASE_URL", f"sqlite:///{tmp_path / 'fleet.db'}")
    with open_session(load_settings()) as opened:
        with opened.store.write() as tx:
            for pool in (POOL, rows.pool(name="other")):
                fleet.put_pool(tx, pool)
                node = rows.node(pool.id, state=NodeState.MATCHED, node_name=f"node-of-{pool.name}")
                pool_nodes.add_node(tx, node)
            reservations.add_reservation(tx, rows.reservation(POOL.id, state=ReservationState.PENDING))
        yield opened


def test_one_pools_machines_are_shown_or_all(session: Session, capsys: Capture) -> None:
    assert main(["nodes", POOL.name]) == 0
    told = capsys.readouterr().out
    assert "node-of-gpu-fleet" in told
    assert "node-of-other" not in told
    assert "has waited for a place" in told
    assert main(["nodes"]) == 0
    told = capsys.readouterr().out
    assert "node-of-gpu-fleet" in told
    assert "node-of-other" in told


def test_json_says_what_the_module_says(session: Session, capsys: Capture) -> None:
    assert main(["nodes", POOL.id, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told == list_machines(session, pool=POOL.id).to_data()
    assert [one["node_name"] for one in told["nodes"]] == ["node-of-gpu-fleet"]


def test_retired_machines_are_shown_when_they_are_asked_for(session: Session, capsys: Capture) -> None:
    [node] = list_machines(session, pool=POOL.id).machines
    with session.store.write() as tx:
        pool_nodes.retire_node(tx, node.record.id)
    main(["nodes", POOL.id])
    assert "No machine has joined" in capsys.readouterr().out
    main(["nodes", POOL.id, "--retired"])
    assert "retired" in capsys.readouterr().out


@pytest.mark.parametrize("pool", ["nowhere", "", "pool_01jb2k3m4n5p6q7r8s9t0v1w2x", "\x1b[2J"])
def test_a_pool_that_there_is_not_has_to_be_set_right(session: Session, capsys: Capture, pool: str) -> None:
    assert main(["nodes", pool]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert "there is no pool" in told.err
    assert "\x1b" not in told.err
