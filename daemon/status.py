# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""`bc-fleetd status`: the substrates as a table for a person, or as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import IO, Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.findings import Finding
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.states import SubstrateState
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.substrates import SubstrateView

_PLAIN_WIDTH = 160
"""Columns where the output is no terminal: a file or a pipe has no width of its own."""


def print_json(views: Sequence[SubstrateView], findings: Sequence[Finding] = (), *, to: IO[str]) -> None:
    """As the modules tell it: `{"substrates": […], "self_check": […]}`."""
    data: dict[str, Any] = {
        "substrates": [view.to_data() for view in views],
        "self_check": [finding.to_data() for finding in findings],
    }
    to.write(json.dumps(data, indent=2) + "\n")


def print_table(views: Sequence[SubstrateView], findings: Sequence[Finding] = (), *, to: IO[str]) -> None:
    """One row for each pool, and what the self-check found."""
    console = Console(file=to, highlight=False)
    if not console.is_terminal:
        console = Console(file=to, highlight=False, width=_PLAIN_WIDTH)
    if not views:
        console.print("No pool has a substrate yet: bc_fleet records what a document declares.")
        return
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in ("Pool", "Provider", "State"):
        table.add_column(heading, no_wrap=True)
    for heading in ("Joined", "Listed", "Waiting"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("Message", overflow="fold")
    for view in views:
        record = view.record
        table.add_row(
            Text(view.pool),
            Text(f"{view.provider}, adopted" if record.mode == "adopt" else view.provider),
            _state(view),
            str(record.nodes_joined),
            str(record.nodes_listed),
            str(record.waiting_nodes or "-"),
            Text(_printable(record.message)),
        )
    console.print(table)
    for finding in findings:
        about = f"{', '.join(finding.pools)}: " if finding.pools else ""
        console.print(Text(_printable(f"! {about}{finding.message}"), style="yellow"), soft_wrap=True)


def _state(view: SubstrateView) -> Text:
    state = view.record.state
    if view.ready:
        return Text(state, style="green")
    if state == SubstrateState.READY:
        return Text("ready, changing", style="yellow")
    return Text(state, style="red" if state == SubstrateState.ERROR else "yellow")


def _printable(text: str) -> str:
    """A provider's words, without what would steer the terminal."""
    return "".join(char if char.isprintable() else " " for char in text)
