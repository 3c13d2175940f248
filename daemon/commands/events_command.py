# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""`bc-fleetd events`: its arguments, and what they are handed to (events.py)."""

from __future__ import annotations

import argparse
import sys

from ansible_collections.better_compute.fleet.plugins.module_utils._core.documents.settings import load_settings
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.events import DEFAULT_LIMIT

from .reading import reading_session
from .settings_option import add_settings_option

_WELL = 0

_MOST = 10_000
"""Events in one reading: what comes is held in memory before it is printed, up to a few KiB each."""


def add_events_command(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Teach the command line `events`. It has `command`, which gives the exit status."""
    text = "show what happened to clusters, node pools and nodes, in order"
    one = commands.add_parser("events", help=text, description=text)
    one.set_defaults(command=_events)
    add_settings_option(one)
    one.add_argument("--debug", action="store_true", help="log more, and where faults come from")
    one.add_argument("--pool", metavar="NAME|ID", help="only of this pool, which may be gone")
    one.add_argument("--since", metavar="ID", help="what came after this event; else the latest")
    one.add_argument("--limit", type=_limit, default=DEFAULT_LIMIT, help="how many at most (default: %(default)s)")
    one.add_argument("--json", action="store_true", help="as JSON")


def _limit(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) <= len(str(_MOST)) and 1 <= int(text) <= _MOST):
        raise argparse.ArgumentTypeError(f"expected 1 to {_MOST}, found {text[:20]!r}")
    return int(text)


def _events(arguments: argparse.Namespace) -> int:
    from .events import print_json, print_lines, read

    with reading_session(load_settings(arguments.settings)) as session:
        told = read(session, pool=arguments.pool, since=arguments.since, limit=arguments.limit)
    (print_json if arguments.json else print_lines)(told, to=sys.stdout)
    return _WELL
