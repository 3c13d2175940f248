# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Running a module's body: libraries, settings and store are made ready; every error leaves as one clear message."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable, Mapping
from typing import Any

from ansible.module_utils.basic import AnsibleModule, missing_required_lib

from ..model.errors import FleetError, InvalidInput, OperationError
from ..operations.session import Session, open_session

COMMON_ARGUMENTS: dict[str, dict[str, Any]] = {
    "database_url": {"type": "str", "no_log": True},
    "settings": {"type": "path"},
}
"""What every module takes: see the doc fragment of the same name."""

Body = Callable[[AnsibleModule, Session], Mapping[str, Any]]


def run_module(arguments: Mapping[str, Any], body: Body, **module_options: Any) -> None:
    """Run a module to its exit.

    Arguments:
        arguments: the module's own argument spec; the common ones are added.
        body: does the work and returns the result.
        module_options: passed on to AnsibleModule: required_one_of and the like.
    """
    module = AnsibleModule(argument_spec={**COMMON_ARGUMENTS, **arguments}, supports_check_mode=True, **module_options)
    _require_libraries(module)
    result = _run(module, body)
    if result.pop("failed", False):
        module.fail_json(**result)
    module.exit_json(**result)


def _run(module: AnsibleModule, body: Body) -> dict[str, Any]:
    from ..documents.settings import load_settings

    try:
        settings = load_settings(module.params["settings"], database_url=module.params["database_url"])
        with open_session(settings) as session:
            return dict(body(module, session))
    except FleetError as error:
        return {"failed": True, **failure(error)}
    except Exception as error:  # noqa: BLE001 -- the last edge: no fault of ours reaches a user as a traceback
        return {"failed": True, "msg": _fault(error)}


def failure(error: FleetError) -> dict[str, Any]:
    """An error as a module's failed result: msg, the API's code where there is one, and each problem with its path."""
    result: dict[str, Any] = {"msg": str(error)}
    if isinstance(error, OperationError):
        result["code"] = str(error.code)
    if isinstance(error, InvalidInput):
        result["problems"] = [{"path": problem.path, "message": problem.message} for problem in error.problems]
    return result


def _require_libraries(module: AnsibleModule) -> None:
    """Fail with Ansible's own sentence for the first library that is missing, before anything else is tried."""
    for import_name, library in (("pydantic", "pydantic"), ("sqlalchemy", "sqlalchemy")):
        try:
            __import__(import_name)
        except ImportError:
            module.fail_json(msg=missing_required_lib(library))


def _fault(error: Exception) -> str:
    """One sentence for a fault of ours: its kind and place, and never its text, which may hold anything."""
    frame = traceback.extract_tb(sys.exc_info()[2])[-1]
    place = f"{frame.filename.rpartition('ansible_collections/')[2]}:{frame.lineno}"
    kind = type(error).__name__
    return f"A fault in better_compute.fleet: {kind} at {place}. Nothing more was changed; please report it."
