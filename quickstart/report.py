# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the quickstart prints: short, in the order in which things happen."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from typing import Any

from rich.console import Console
from rich.text import Text


class Report:
    """Prints to the terminal, with each line's time since the start."""

    def __init__(self) -> None:
        """Start the clock."""
        self._console = Console(highlight=False, soft_wrap=True)
        self._began = time.monotonic()
        self._last: dict[str, str] = {}

    @property
    def seconds(self) -> float:
        """Since the start."""
        return round(time.monotonic() - self._began, 1)

    def title(self, text: str) -> None:
        """The first line."""
        self._console.print(Text(text, style="bold"))

    def step(self, text: str) -> None:
        """A new part of the story."""
        self._console.print()
        self._console.print(Text.assemble((f"{self.seconds:5.1f} s  ", "dim"), (text, "bold")))

    def line(self, text: str, *, style: str = "") -> None:
        """A line below a step."""
        self._console.print(Text(f"         {text}", style=style))

    def lines(self, texts: Iterable[str]) -> None:
        """Lines below a step."""
        for text in texts:
            self.line(text)

    def plan(self, text: str) -> None:
        """A plan: what happens to which resource, and the sizes. The single fields are left out."""
        for line in text.splitlines():
            if line and not line.startswith(" " * 6):
                self.line(line)

    def substrate(self, view: Mapping[str, Any]) -> None:
        """Where a pool stands, once for each change."""
        text = f"{view['pool']}: {view['state']}"
        if view["nodes_listed"]:
            text += f", {view['nodes_joined']} of {view['nodes_listed']} Nodes joined"
        if view["message"]:
            text += f" ({view['message']})"
        if self._last.get(view["pool"]) != text:
            self._last[view["pool"]] = text
            self._console.print(Text.assemble((f"{self.seconds:5.1f} s  ", "dim"), text))

    def well(self, text: str) -> None:
        """A check that held."""
        self._console.print(Text.assemble("         ", ("✓ ", "green"), text))

    def ill(self, text: str) -> None:
        """What went wrong."""
        self._console.print(Text.assemble("         ", ("✗ ", "red"), text))
