# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""bc_reservation: a named booking in, the reservation out."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from ansible.module_utils.basic import AnsibleModule

from ..model.errors import Code
from ..model.ids import TenantId
from ..model.records import Reservation
from ..model.states import ReservationState
from ..operations import pending_bookings, reservations
from ..operations.session import Session
from .edge import run_module
from .waiting import WAIT_ARGUMENTS, wait_timeout

RESERVATION_ARGUMENTS: dict[str, dict[str, Any]] = {
    "name": {"type": "str", "required": True},
    "pool": {"type": "str", "required": True},
    "tenant": {"type": "str", "default": "platform"},
    "gpus": {"type": "int"},
    "spot": {"type": "bool", "default": False},
    "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
    **WAIT_ARGUMENTS,
    # A booking that waits for room is a booking: to wait for more is asked for.
    "wait": {"type": "bool", "default": False},
}


def run_reservation() -> None:
    """The module bc_reservation."""
    run_module(RESERVATION_ARGUMENTS, _converge, required_if=[("state", "present", ("gpus",))])


def _converge(module: AnsibleModule, session: Session) -> Mapping[str, Any]:
    params = module.params
    timeout = wait_timeout(params)
    tenant_id = TenantId(params["tenant"])
    named = reservations.find(session, pool=params["pool"], tenant_id=tenant_id, name=params["name"])
    current = named.current
    if params["state"] == "absent":
        if current is None or module.check_mode:
            return _result(current is not None, _as_it_stands(session, named.last))
        return _result(True, reservations.give_back(session, current))
    operation = reservations.check if module.check_mode else reservations.book
    made = operation(session, named, tenant_id=tenant_id, gpus=params["gpus"], spot=params["spot"])
    if made is None or module.check_mode or not params["wait"]:
        return _result(current is None, _as_it_stands(session, made))
    told = pending_bookings.wait_for_room(session, made, timeout=timeout)
    return {**_result(current is None, told.reservation), **_failure(told, timeout)}


def _as_it_stands(session: Session, reservation: Reservation | None) -> Reservation | None:
    return None if reservation is None else pending_bookings.with_reason(session, reservation)


def _failure(told: pending_bookings.Told, timeout: timedelta) -> dict[str, Any]:
    """What a task fails with that waited in vain; empty where the reservation has its room."""
    one = told.reservation
    if one.state == ReservationState.BOUND:
        return {}
    after = f" after {int(timeout.total_seconds())} s" if told.waits else ""
    msg = f"the reservation is {one.state}{after}: {one.message}"
    return {"failed": True, "code": str(Code.INVALID_STATE), "msg": msg}


def _result(changed: bool, reservation: Reservation | None) -> dict[str, Any]:
    return {"changed": changed, "reservation": None if reservation is None else reservations.to_data(reservation)}
