# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The report as a table for a person."""

from __future__ import annotations

from collections.abc import Sequence
from typing import IO, Final

from rich.console import Console
from rich.table import Table

from .item import Item

_WORDS: Final = {True: "[green]holds[/]", False: "[bold red]DOES NOT HOLD[/]", None: "[yellow]NOT MEASURED[/]"}


def print_table(items: Sequence[Item], file: IO[str] | None = None) -> None:
    """Print every item, its value beside its bar, and below the table what each was made from."""
    table = Table(title="make bench", title_justify="left")
    table.add_column("benchmark", no_wrap=True)
    table.add_column("value", justify="right", no_wrap=True)
    table.add_column("bar", no_wrap=True)
    table.add_column("", no_wrap=True)
    for item in items:
        value = "-" if item.value is None else f"{item.value:.3g} {item.unit}"
        table.add_row(item.name, value, f"{item.side} {item.bar:g} {item.unit}", _WORDS[item.holds])
    console = Console(file=file, highlight=False)
    console.print(table)
    for item in items:
        if note := item.to_data()["note"]:
            console.print(f"{item.name}: {note}", markup=False, soft_wrap=True)
