# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""`bc-fleetd token …`: the arguments of its commands, and what they are handed to (tokens.py)."""

from __future__ import annotations

import argparse
import sys

from ansible_collections.better_compute.fleet.plugins.module_utils._core.documents.settings import load_settings
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.permissions import Permission
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.api_tokens import DEFAULT_LIFETIME
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.session import open_session

from .reading import reading_session
from .settings_option import add_settings_option

_WELL = 0


def add_token_commands(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Teach the command line `token` with its own commands. Each has `command`, which gives the exit status."""
    text = "issue, list and revoke the tokens of the HTTP API"
    token = commands.add_parser("token", help=text, description=text)
    kinds = token.add_subparsers(required=True, metavar="COMMAND")
    for name, command, text in (
        ("create", _create, "issue a token, and print it: this once"),
        ("list", _list, "show who has a token, for what and until when"),
        ("revoke", _revoke, "make a token open nothing from now on"),
    ):
        one = kinds.add_parser(name, help=text, description=text)
        one.set_defaults(command=command)
        add_settings_option(one)
        one.add_argument("--debug", action="store_true", help="log more, and where faults come from")
        new = command is _create
        one.add_argument("--tenant", required=new, help="whose resources it acts on" if new else "only this tenant's")
        if new:
            one.add_argument("name", metavar="NAME", help="what it is for; unique within the tenant")
            one.add_argument(
                "--permission", action="append", default=[], help=f"may be repeated: {', '.join(Permission)}"
            )
            one.add_argument("--lifetime", default=DEFAULT_LIFETIME, help="such as 12h or 30d (default: %(default)s)")
        elif command is _revoke:
            one.add_argument("which", metavar="NAME|ID", help="its name or id; or the token itself, if it leaked")
        else:
            one.add_argument("--all", action="store_true", help="those that were revoked too")
            one.add_argument("--json", action="store_true", help="as JSON")


def _create(arguments: argparse.Namespace) -> int:
    from .tokens import create

    with open_session(load_settings(arguments.settings)) as session:
        create(
            session,
            name=arguments.name,
            tenant=arguments.tenant,
            permissions=arguments.permission,
            lifetime=arguments.lifetime,
            to=sys.stdout,
            words=sys.stderr,
        )
    return _WELL


def _list(arguments: argparse.Namespace) -> int:
    from .tokens import print_list

    with reading_session(load_settings(arguments.settings)) as session:
        print_list(session, tenant=arguments.tenant, every=arguments.all, as_json=arguments.json, to=sys.stdout)
    return _WELL


def _revoke(arguments: argparse.Namespace) -> int:
    from .tokens import revoke

    with open_session(load_settings(arguments.settings)) as session:
        revoke(session, which=arguments.which, tenant=arguments.tenant, to=sys.stdout)
    return _WELL
