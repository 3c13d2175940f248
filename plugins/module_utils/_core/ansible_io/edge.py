# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Running a module's body: libraries, settings and store are made ready; every error leaves as one clear message."""

from __future__ import annotations

import logging
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import FrameType
from typing import Any, NoReturn

from ansible.module_utils.basic import AnsibleModule, missing_required_lib

from ..documents.settings import load_settings
from ..model.errors import FleetError, InvalidInput, InvalidSettings, OperationError
from ..model.libraries import library_of
from ..operations.own_process import begin_process
from ..operations.session import Drivers, IfMissing, Session, no_drivers, open_session

COMMON_ARGUMENTS: dict[str, dict[str, Any]] = {
    "database_url": {"type": "str", "no_log": True},
    "settings": {"type": "path"},
}
"""What every module takes: see the doc fragment of the same name."""

# Passes log for the daemon. A module's stderr is nobody's log: what matters is in the result.
logging.getLogger("ansible_collections.better_compute.fleet").addHandler(logging.NullHandler())

Body = Callable[[AnsibleModule, Session], Mapping[str, Any]]


def run_module(
    arguments: Mapping[str, Any],
    body: Body,
    *,
    drivers: Drivers = no_drivers,
    only_reads: bool = False,
    **module_options: Any,
) -> None:
    """Run a module to its exit.

    Arguments:
        arguments: the module's own argument spec; the common ones are added.
        body: does the work and returns the result.
        drivers: operations.drivers.drivers, of a module that asks providers or runs passes.
        only_reads: of a module that changes nothing: it makes no database where there is none yet, as no module does in
            check mode. What it reads is an empty fleet then, and a warning says why.
        module_options: passed on to AnsibleModule: required_one_of and the like.
    """
    begin_process()
    module = AnsibleModule(argument_spec={**COMMON_ARGUMENTS, **arguments}, supports_check_mode=True, **module_options)
    result = _run(module, body, drivers, only_reads=only_reads or module.check_mode)
    if result.pop("failed", False):
        module.fail_json(**result)
    module.exit_json(**result)


def _run(module: AnsibleModule, body: Body, drivers: Drivers, *, only_reads: bool) -> dict[str, Any]:
    try:
        settings = load_settings(module.params["settings"], database_url=module.params["database_url"])
        if_missing: IfMissing = "empty" if only_reads else "make"
        with (
            open_session(settings, drivers=drivers, if_missing=if_missing) as session,
            _stopped_by_signals(session),
        ):
            _tell_of_database(module, session)
            return dict(body(module, session))
    except FleetError as error:
        return {"failed": True, **failure(error)}
    except KeyboardInterrupt:
        return {"failed": True, "msg": "stopped by a signal: what was declared stays declared, and another run goes on"}
    except ImportError as error:
        return {"failed": True, "msg": missing(error) or _fault(error)}
    except Exception as error:  # noqa: BLE001 -- the last edge: no fault of ours reaches a user as a traceback
        return {"failed": True, "msg": _fault(error)}


def _tell_of_database(module: AnsibleModule, session: Session) -> None:
    """Warn of a fleet that may be empty because its database is somewhere else."""
    store = session.store
    if store.made:
        module.warn(f"a new, empty database was made: {store.name}. Is the fleet recorded elsewhere? See database_url")
    elif store.absent:
        module.warn(
            f"there is no database yet ({store.name}), so nothing is recorded, and this made none. "
            "Is the fleet recorded elsewhere? See database_url"
        )


@contextmanager
def _stopped_by_signals(session: Session) -> Iterator[None]:
    """Have SIGTERM and SIGINT end the run: passes end after the step in hand. A second one ends the process at once.

    Ansible sends SIGTERM to a module when the person at the terminal presses Ctrl-C.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(number: int, _frame: FrameType | None) -> NoReturn:
        for each in before:
            signal.signal(each, signal.SIG_DFL)
        session.stopping.set()
        raise KeyboardInterrupt(number)

    before = {number: signal.signal(number, stop) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def missing(error: ImportError) -> str | None:
    """Ansible's own sentence for the library that an import missed; None when it is none that users install."""
    library = library_of(error)
    return missing_required_lib(library) if library else None


def failure(error: FleetError) -> dict[str, Any]:
    """An error as a module's failed result: msg, the API's code where there is one, and each problem with its path."""
    said = "the settings are not right:\n" if isinstance(error, InvalidSettings) else ""
    result: dict[str, Any] = {"msg": f"{said}{error}"}
    if isinstance(error, OperationError):
        result["code"] = str(error.code)
    if isinstance(error, InvalidInput):
        result["problems"] = [{"path": problem.path, "message": problem.message} for problem in error.problems]
    return result


def _fault(error: Exception) -> str:
    """One sentence for a fault of ours: its kind and place, and never its text, which may hold anything."""
    frame = traceback.extract_tb(sys.exc_info()[2])[-1]
    place = f"{frame.filename.rpartition('ansible_collections/')[2]}:{frame.lineno}"
    kind = type(error).__name__
    return f"A fault in better_compute.fleet: {kind} at {place}. Nothing more was changed; please report it."
