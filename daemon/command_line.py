# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""bc-fleetd's command line: what a person or the service manager starts. `main` is the console script's entry.

Results go to stdout, the log and errors to stderr. Exit status: 0 well; 1 it went wrong, and trying again may help
(`validate`, `plan`: a document is not valid, or asks for what cannot be made); 2 something has to be set right first
(arguments, settings, schema, a file that cannot be read).
"""

from __future__ import annotations

import argparse
import logging
import sys
from collections.abc import Callable, Sequence

from ansible_collections.better_compute.fleet.plugins.module_utils._core.documents.settings import (
    LogSettings,
    Settings,
    load_settings,
    read_settings,
    settings_file,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import (
    FleetError,
    InvalidInput,
    InvalidSettings,
    OperationError,
    SchemaMismatch,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.findings import Verdict
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.drivers import drivers
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.own_process import begin_process
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.session import (
    IfMissing,
    database_address,
    database_is_new,
    open_session,
)

from .commands.events_command import add_events_command
from .commands.nodes_command import add_nodes_command
from .commands.reading import reading_session
from .commands.settings_option import add_settings_option
from .commands.token_commands import add_token_commands
from .errors import NoCertificate, NotAsAsked
from .logs import log_to_stderr, say, tell
from .version import told_version

_LOG = logging.getLogger(__name__)

_WELL, _WRONG, _SET_RIGHT = 0, 1, 2

# Each command imports what it is made of when it runs: a person who asks for the status does not wait for a web server.

Command = Callable[[argparse.Namespace], int]


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command.

    Arguments:
        argv: the arguments, without the program's name; None for the process's own.

    Returns:
        The exit status.
    """
    begin_process()
    arguments = _parser().parse_args(argv)
    log_to_stderr(LogSettings(), debug=arguments.debug)
    command: Command = arguments.command
    try:
        return command(arguments)
    except InvalidSettings as error:
        tell("the settings are not right:", *(f"  {problem}" for problem in error.problems))
        return _SET_RIGHT
    except (SchemaMismatch, NoCertificate, NotAsAsked) as error:
        tell(str(error))
        return _SET_RIGHT
    except FleetError as error:
        tell(str(error))
        return _WRONG
    except KeyboardInterrupt:
        return 130  # 128 + SIGINT, as shells say it
    except Exception:  # noqa: BLE001 -- the last edge: no fault reaches a person as a traceback
        _LOG.exception("a fault of bc-fleetd's own; with --debug it shows from where")
        return _WRONG


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="bc-fleetd", description="Keeps GPU pools as they were declared.")
    parser.add_argument(
        "--version", action=_Version, nargs=0, help="show the collection's version and Python's, and end"
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for name, command, text in (
        ("run", _run, "run due passes and be the gateway, until told to stop"),
        ("once", _once, "run every pass that is due, once"),
        ("status", _status, "show the pools and what stands behind them, and clusters without a pool"),
        (
            "doctor",
            _doctor,
            "look for what is wrong with settings, database, accounts and clusters, and say what to do",
        ),
        ("migrate", _migrate, "bring the database to this version's schema"),
        ("certificate", _certificate, "make the gateway's certificate if there is none, and print its pin"),
        ("validate", _validate, "check FleetConfig documents, without settings or database"),
        ("plan", _plan, "show what bc_fleet would change to converge a document, and change nothing"),
    ):
        one = commands.add_parser(name, help=text, description=text)
        one.set_defaults(command=command)
        if command is _validate:
            one.add_argument("files", nargs="+", metavar="FILE", help="a document, JSON or YAML; - for standard input")
        else:
            add_settings_option(one)
        one.add_argument("--debug", action="store_true", help="log more, and where faults come from")
        if command is _once:
            one.add_argument(
                "--pool", metavar="NAME|ID", help="only this pool's pass, and now, whether it is due or not"
            )
        if command is _plan:
            one.add_argument("file", metavar="FILE", help="the document, JSON or YAML; - for standard input")
            one.add_argument("--prune", action="store_true", help="what is no longer declared goes")
            one.add_argument("--absent", action="store_true", help="all that the document names goes")
            one.add_argument("--no-refresh", action="store_true", help="ask no provider what it holds")
        if command in {_status, _doctor, _validate, _plan}:
            one.add_argument("--json", action="store_true", help="as JSON")
    add_nodes_command(commands)
    add_events_command(commands)
    add_token_commands(commands)
    return parser


class _Version(argparse.Action):
    """Looks for the version only when somebody asks for it."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        sys.stdout.write(f"{told_version()}\n")
        parser.exit(_WELL)


def _run(arguments: argparse.Namespace) -> int:
    from .service.running import run

    settings = _settings_and_log(arguments)
    file = settings_file(arguments.settings) or "none, the environment and defaults"
    _LOG.info("%s begins; settings file: %s; database: %s", told_version(), file, database_address(settings))
    run(settings, say=say)
    return _WELL


def _once(arguments: argparse.Namespace) -> int:
    from .commands.once import run_due, run_pool

    # Whoever names a pool expects one to be recorded: a database that is not there is the wrong one.
    if_missing: IfMissing = "make" if arguments.pool is None else "refuse"
    with open_session(_settings_and_log(arguments), drivers=drivers, if_missing=if_missing) as session:
        well = run_due(session, say=say) if arguments.pool is None else run_pool(session, arguments.pool, say=say)
    return _WELL if well else _WRONG


def _status(arguments: argparse.Namespace) -> int:
    from .commands.status import print_json, print_table
    from .fleet_now import read_fleet

    with reading_session(_settings(arguments)) as session:
        fleet = read_fleet(session)
    (print_json if arguments.json else print_table)(
        fleet.pools, fleet.findings, fleet.clusters, fleet.passes, to=sys.stdout
    )
    return _WELL


def _doctor(arguments: argparse.Namespace) -> int:
    from .doctor.examining import examine
    from .doctor.printing import print_json, print_lines

    examination = examine(arguments.settings, drivers=drivers)
    (print_json if arguments.json else print_lines)(examination, to=sys.stdout)
    if examination.settings_wrong:
        return _SET_RIGHT
    return _WRONG if examination.count(Verdict.PROBLEM) else _WELL


def _migrate(arguments: argparse.Namespace) -> int:
    from .migrations import migrate

    settings = _settings(arguments)
    new = database_is_new(settings)
    changed = migrate(settings.store.database_url, make_folder=settings.store.by_default)
    if new:
        say(f"A new, empty database was made: {database_address(settings)}")
    say(f"The database {'now has' if changed else 'already had'} this version's schema.")
    return _WELL


def _validate(arguments: argparse.Namespace) -> int:
    from .commands.validate import print_json, print_lines, validate

    verdicts = validate(arguments.files)
    (print_json if arguments.json else print_lines)(verdicts, to=sys.stdout)
    if not all(verdict.readable for verdict in verdicts.values()):
        return _SET_RIGHT
    return _WRONG if any(verdict.problems for verdict in verdicts.values()) else _WELL


def _plan(arguments: argparse.Namespace) -> int:
    from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations import fleet

    from .commands.document_file import called, read_document
    from .commands.plan import print_json, print_text

    settings = _settings(arguments)
    source = called(arguments.file)
    try:
        try:
            document = read_document(arguments.file)
        except OSError as error:
            tell(f"{source}: cannot be read: {error.strerror}")
            return _SET_RIGHT
        with reading_session(settings, drivers=drivers) as session:
            planned = fleet.plan_fleet(
                session, document, prune=arguments.prune, refresh=not arguments.no_refresh, absent=arguments.absent
            )
    except InvalidInput as error:
        tell("the document is not valid:", *str(error.of(source)).splitlines())
        return _WRONG
    except OperationError as error:
        # It cannot be had as it is declared: what the provider lacks, what is too large, what somebody else holds.
        tell(str(error.of(source)))
        return _WRONG
    (print_json if arguments.json else print_text)(planned, to=sys.stdout)
    return _WRONG if planned.plan.blocked else _WELL


def _certificate(arguments: argparse.Namespace) -> int:
    from .own_certificate import gateway_certificate, is_pinned

    settings = _settings(arguments)
    certificate = gateway_certificate(settings)
    if not is_pinned(settings, certificate):
        tell("the settings' [agent] pins do not name this key yet: bcd would refuse the gateway")
    say(f"The gateway's certificate is {certificate.certificate_file}; its pin, for [agent] pins in the settings:")
    say(certificate.pin)
    return _WELL


def _settings(arguments: argparse.Namespace) -> Settings:
    return load_settings(arguments.settings)


def _settings_and_log(arguments: argparse.Namespace) -> Settings:
    """The settings, and from here on the log as they say: for what a service manager starts. A person reads text."""
    read = read_settings(arguments.settings)
    log_to_stderr(read.settings.log, debug=arguments.debug)
    if read.problems:
        raise InvalidSettings(read.problems)
    return read.settings
