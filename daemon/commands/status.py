# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""`bc-fleetd status`: the substrates, and clusters that back no pool, as tables for a person or as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import IO, Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.findings import Finding
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.clusters.views import ClusterView
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.substrates import SubstrateView

from ..standing import Mood, Passes, Standing, standing_of
from ..terminal import console_on, printable

_STYLES = {Mood.GOOD: "green", Mood.MOVING: "yellow", Mood.BAD: "red"}

_MESSAGE_COLUMNS = 32
"""Where fewer are left beside the table, messages stand below it: in a column of their own they would be a thread."""


def print_json(
    views: Sequence[SubstrateView],
    findings: Sequence[Finding] = (),
    clusters: Sequence[ClusterView] = (),
    passes: Passes | None = None,
    *,
    to: IO[str],
) -> None:
    """As the modules tell it, with the next passes: `{"substrates": […], "clusters": […], "self_check": […]}`.

    Arguments:
        clusters: those that back no pool.
    """
    passes = passes or Passes()
    data: dict[str, Any] = {
        "substrates": [{**view.to_data(), **passes.to_data(view.record.pool_id)} for view in views],
        "clusters": [{**view.to_data(), **passes.to_data(view.record.id)} for view in clusters],
        "self_check": [finding.to_data() for finding in findings],
    }
    to.write(json.dumps(data, indent=2) + "\n")


def print_table(
    views: Sequence[SubstrateView],
    findings: Sequence[Finding] = (),
    clusters: Sequence[ClusterView] = (),
    passes: Passes | None = None,
    *,
    to: IO[str],
    width: int | None = None,
) -> None:
    """One row for each pool, one for each cluster that backs none, and what the self-check found.

    Arguments:
        width: columns; None for the terminal's.
    """
    console = console_on(to, width=width)
    passes = passes or Passes()
    if views:
        rows = [(_pool_cells(view, passes), view.record.message) for view in views]
        _print(console, ("Pool", "Provider", "State"), ("Joined", "Listed", "Waiting", "Next pass"), rows)
    else:
        console.print("No pool has a substrate yet: bc_fleet records what a document declares.")
    if clusters:
        of_clusters = [(_cluster_cells(view, passes), view.record.message or view.waits_for) for view in clusters]
        _print(console, ("Cluster", "Tenant", "Provider", "State"), ("Node pools", "Next pass"), of_clusters)
    for finding in findings:
        about = f"{', '.join(finding.pools)}: " if finding.pools else ""
        console.print(Text(printable(f"! {about}{finding.message}"), style="yellow"), soft_wrap=True)


Row = tuple[list[Text], str]
"""A row's cells, and the message that belongs to it."""


def _print(console: Console, texts: Sequence[str], numbers: Sequence[str], rows: Sequence[Row]) -> None:
    table = _table(texts, numbers, [cells for cells, _message in rows])
    beside = console.width - console.measure(table).maximum >= _MESSAGE_COLUMNS
    if not beside:
        console.print(table)
        for cells, message in rows:
            if message:
                console.print(Text(printable(f"{cells[0].plain}: {message}")), soft_wrap=True)
        return
    with_messages = [[*cells, Text(printable(message), overflow="fold")] for cells, message in rows]
    console.print(_table(texts, numbers, with_messages, last="Message"))


def _table(texts: Sequence[str], numbers: Sequence[str], rows: Sequence[Sequence[Text]], *, last: str = "") -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in texts:
        table.add_column(heading, no_wrap=True)
    for heading in numbers:
        table.add_column(heading, justify="right", no_wrap=True)
    if last:
        table.add_column(last, overflow="fold")
    for cells in rows:
        table.add_row(*cells)
    return table


def _pool_cells(view: SubstrateView, passes: Passes) -> list[Text]:
    record = view.record
    return [
        Text(printable(view.pool)),
        Text(f"{view.provider}, adopted" if record.mode == "adopt" else view.provider),
        _words(standing_of(view)),
        Text(str(record.nodes_joined)),
        Text(str(record.nodes_listed)),
        Text(passes.waiting(record)),
        Text(passes.words(record.pool_id)),
    ]


def _cluster_cells(view: ClusterView, passes: Passes) -> list[Text]:
    record = view.record
    ready = sum(node_pool.settled for node_pool in view.node_pools)
    return [
        Text(printable(record.name)),
        Text(printable(str(record.tenant_id))),
        Text(view.account.provider if view.account else ""),
        _words(standing_of(view)),
        Text(f"{ready}/{len(view.node_pools)}"),
        Text(passes.words(record.id)),
    ]


def _words(standing: Standing) -> Text:
    return Text(standing.words, style=_STYLES[standing.mood])
