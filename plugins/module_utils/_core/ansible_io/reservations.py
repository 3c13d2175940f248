# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""bc_reservation: a named booking in, the reservation out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible.module_utils.basic import AnsibleModule

from ..model.ids import TenantId
from ..model.records import Reservation
from ..operations import reservations
from ..operations.session import Session
from .edge import run_module

RESERVATION_ARGUMENTS: dict[str, dict[str, Any]] = {
    "name": {"type": "str", "required": True},
    "pool": {"type": "str", "required": True},
    "tenant": {"type": "str", "default": "platform"},
    "gpus": {"type": "int"},
    "spot": {"type": "bool", "default": False},
    "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
}


def run_reservation() -> None:
    """The module bc_reservation."""
    run_module(RESERVATION_ARGUMENTS, _converge, required_if=[("state", "present", ("gpus",))])


def _converge(module: AnsibleModule, session: Session) -> Mapping[str, Any]:
    params = module.params
    tenant_id = TenantId(params["tenant"])
    named = reservations.find(session, pool=params["pool"], tenant_id=tenant_id, name=params["name"])
    current = named.current
    if params["state"] == "absent":
        if current is None or module.check_mode:
            return _result(current is not None, named.last)
        return _result(True, reservations.give_back(session, current))
    operation = reservations.check if module.check_mode else reservations.book
    made = operation(session, named, tenant_id=tenant_id, gpus=params["gpus"], spot=params["spot"])
    return _result(current is None, made)


def _result(changed: bool, reservation: Reservation | None) -> dict[str, Any]:
    return {"changed": changed, "reservation": None if reservation is None else reservations.to_data(reservation)}
