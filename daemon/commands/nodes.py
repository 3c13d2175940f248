# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""`bc-fleetd nodes`: the machines of pools with what is booked on them, as a table for a person or as JSON."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from typing import IO

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import OperationError
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.liveness import Liveness
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.states import NodeState
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.booking_list import BookingView
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.machine_list import (
    NOT_RETIRED,
    MachineList,
    MachineView,
    list_machines,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.session import Session

from ..errors import NotAsAsked
from ..terminal import console_on, printable

_NARROW = 140
"""On a terminal with fewer columns bookings stand below the table: beside all the others there is no room for them."""

_STYLES = {Liveness.CONNECTED: "green", Liveness.DISCONNECTED: "red", Liveness.UNKNOWN: "yellow"}


def read(session: Session, *, pool: str | None, retired: bool) -> MachineList:
    """The machines that were asked for.

    Raises:
        NotAsAsked: there is no such pool.
    """
    try:
        return list_machines(session, pool=pool, states=tuple(NodeState) if retired else NOT_RETIRED)
    except OperationError as error:
        raise NotAsAsked(str(error)) from error


def print_json(found: MachineList, *, to: IO[str]) -> None:
    """As bc_node_info tells it: `{"nodes": […], "waiting_to_join": […], "pending": […]}`."""
    to.write(json.dumps(found.to_data(), indent=2) + "\n")


def print_table(found: MachineList, *, to: IO[str], width: int | None = None) -> None:
    """A row for each machine, with its pool where there are several.

    Below the table stands what has no machine yet: Nodes without a joined bcd, and bookings.

    Arguments:
        width: columns; None for the terminal's.
    """
    console = console_on(to, width=width)
    if found.machines:
        _print_machines(console, found)
    else:
        console.print("No machine has joined, or those that did are gone.")
    for waiting in found.waiting:
        since = "" if waiting.since is None else f", none has joined for {_ago(waiting.since, found.now)}"
        _say(console, f"{waiting.pool.name}: {waiting.nodes} listed Nodes have no joined bcd{since}")
    for booking in found.pending:
        waits = f"has waited for a place for {_ago(booking.record.created_at, found.now)}"
        _say(console, f"{booking.pool}: {_booking(booking)}, {waits}: {booking.record.message}")


def _print_machines(console: Console, found: MachineList) -> None:
    beside = console.width >= _NARROW
    of_many = len({machine.record.pool_id for machine in found.machines}) > 1
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in ("Pool", "Node") if of_many else ("Node",):
        table.add_column(heading, overflow="fold")
    for heading in ("State", "bcd"):
        table.add_column(heading, no_wrap=True)
    for heading in ("GPUs", "Booked"):
        table.add_column(heading, justify="right", no_wrap=True)
    if beside:
        table.add_column("Bookings", overflow="fold")
    for machine in found.machines:
        bookings = "\n".join(_booking(booking) for booking in machine.bookings)
        pool = [Text(printable(machine.pool.name))] if of_many else []
        table.add_row(*pool, *_cells(machine, found.now), *([Text(bookings)] if beside else []))
    console.print(table)
    if not beside:
        for machine in found.machines:
            for booking in machine.bookings:
                _say(console, f"{machine.shown_name}: {_booking(booking)}")


def _cells(machine: MachineView, now: datetime) -> list[Text]:
    record, gpus = machine.record, machine.gpus
    state = f"{record.state}, Spot" if record.spot else str(record.state)
    return [
        Text(printable(machine.shown_name)),
        Text(state, style="" if record.state == NodeState.MATCHED else "yellow"),
        Text(_connection(machine, now), style=_STYLES[machine.connection]),
        Text(printable(", ".join(f"{one.count} {one.model}" for one in gpus)) or "-"),
        Text(str(sum(one.booked for one in gpus) or "-")),
    ]


def _connection(machine: MachineView, now: datetime) -> str:
    """Whether its bcd is connected; of one that is not, for how long it has been silent."""
    if machine.connection == Liveness.CONNECTED:
        return str(machine.connection)
    return f"{machine.connection}, {_ago(machine.record.last_seen_at, now)}"


def _booking(booking: BookingView) -> str:
    """Whose it is, its name or else its id, and its size."""
    record = booking.record
    size = f"{record.gpus} {'Spot ' if record.spot else ''}GPU{'' if record.gpus == 1 else 's'}"
    return printable(f"{record.tenant_id}/{booking.name or record.id}, {size}")


def _ago(moment: datetime, now: datetime) -> str:
    """How long ago, in one unit. A moment in the future (another host's clock) is now."""
    seconds = int(max(now - moment, timedelta()).total_seconds())
    for unit, length in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= 2 * length:
            return f"{seconds // length} {unit}"
    return f"{seconds} s"


def _say(console: Console, text: str) -> None:
    console.print(Text(printable(text)), soft_wrap=True)
