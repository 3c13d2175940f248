# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What commands print their tables on."""

from __future__ import annotations

from typing import IO

from rich.console import Console

_PLAIN_WIDTH = 160
"""Columns where the output is no terminal: a file or a pipe has no width of its own."""


def console_on(to: IO[str], *, width: int | None = None) -> Console:
    """A console.

    Arguments:
        width: columns; None for the terminal's.
    """
    console = Console(file=to, highlight=False, width=width)
    if width is None and not console.is_terminal:
        console = Console(file=to, highlight=False, width=_PLAIN_WIDTH)
    return console


def printable(text: str) -> str:
    """A provider's words, without what would steer the terminal."""
    return "".join(char if char.isprintable() else " " for char in text)
