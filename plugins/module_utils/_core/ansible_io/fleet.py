# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""bc_fleet and bc_fleet_info: a document in, a plan and the substrates out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible.module_utils.basic import AnsibleModule

from ..documents.load import load_file, parse_document
from ..model.errors import OperationError
from ..operations import fleet
from ..operations.drivers import drivers
from ..operations.session import Session
from .edge import run_module
from .settling import carry_out, told
from .waiting import WAIT_ARGUMENTS, wait_timeout

FLEET_ARGUMENTS: dict[str, dict[str, Any]] = {
    "config": {"type": "dict"},
    "src": {"type": "path"},
    "remote_src": {"type": "bool", "default": False},
    "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
    "prune": {"type": "bool", "default": False},
    "refresh": {"type": "bool", "default": True},
    **WAIT_ARGUMENTS,
}

FLEET_INFO_ARGUMENTS: dict[str, dict[str, Any]] = {"drift": {"type": "bool", "default": False}}


def run_fleet() -> None:
    """The module bc_fleet."""
    either = [("config", "src")]
    run_module(FLEET_ARGUMENTS, _converge, drivers=drivers, mutually_exclusive=either, required_one_of=either)


def run_fleet_info() -> None:
    """The module bc_fleet_info."""
    run_module(FLEET_INFO_ARGUMENTS, _describe, drivers=drivers, only_reads=True)


def _describe(module: AnsibleModule, session: Session) -> Mapping[str, Any]:
    result = {"changed": False, **fleet.describe(session)}
    if module.params["drift"]:
        result["drift"] = [one.to_data() for one in fleet.drift_of_fleet(session)]
    return result


def _converge(module: AnsibleModule, session: Session) -> Mapping[str, Any]:
    params = module.params
    data, source = params["config"], "config" if params["src"] is None else params["src"]
    # Not told back with the result: it is long, and where it comes from a vault file it is not for every log.
    params["config"] = None
    timeout = wait_timeout(params)
    try:
        planned = fleet.plan_fleet(
            session,
            parse_document(load_file(source) if data is None else data),
            prune=params["prune"],
            refresh=params["refresh"],
            absent=params["state"] == "absent",
        )
    except OperationError as error:
        raise error.of(source) from None
    result, views = carry_out(module, session, planned, timeout=timeout)
    return result if views is None else {**result, "substrates": told(views)}
