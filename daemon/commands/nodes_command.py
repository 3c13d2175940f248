# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""`bc-fleetd nodes`: its arguments, and what they are handed to (nodes.py)."""

from __future__ import annotations

import argparse
import sys

from ansible_collections.better_compute.fleet.plugins.module_utils._core.documents.settings import load_settings

from .reading import reading_session
from .settings_option import add_settings_option

_WELL = 0


def add_nodes_command(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Teach the command line `nodes`. It has `command`, which gives the exit status."""
    text = "show the machines of a pool, or of all, and what is booked on each"
    one = commands.add_parser("nodes", help=text, description=text)
    one.set_defaults(command=_nodes)
    one.add_argument("pool", nargs="?", metavar="POOL", help="its name or id; else the machines of all pools")
    add_settings_option(one)
    one.add_argument("--debug", action="store_true", help="log more, and where faults come from")
    one.add_argument("--retired", action="store_true", help="also the machines that are gone")
    one.add_argument("--json", action="store_true", help="as JSON")


def _nodes(arguments: argparse.Namespace) -> int:
    from .nodes import print_json, print_table, read

    with reading_session(load_settings(arguments.settings)) as session:
        found = read(session, pool=arguments.pool, retired=arguments.retired)
    (print_json if arguments.json else print_table)(found, to=sys.stdout)
    return _WELL
