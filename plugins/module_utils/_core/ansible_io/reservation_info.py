# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""bc_reservation_info: the bookings of pools and tenants."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible.module_utils.basic import AnsibleModule

from ..model.ids import TenantId
from ..model.states import ReservationState
from ..operations.booking_list import NOT_ENDED, list_bookings
from ..operations.session import Session
from .edge import run_module

RESERVATION_INFO_ARGUMENTS: dict[str, dict[str, Any]] = {
    "pool": {"type": "str"},
    "tenant": {"type": "str"},
    "names": {"type": "list", "elements": "str"},
    "states": {
        "type": "list",
        "elements": "str",
        "choices": [str(state) for state in ReservationState],
        "default": [str(state) for state in NOT_ENDED],
    },
}


def run_reservation_info() -> None:
    """The module bc_reservation_info."""
    run_module(RESERVATION_INFO_ARGUMENTS, _read, only_reads=True)


def _read(module: AnsibleModule, session: Session) -> Mapping[str, Any]:
    params = module.params
    found = list_bookings(
        session,
        pool=params["pool"],
        tenant_id=None if params["tenant"] is None else TenantId(params["tenant"]),
        names=params["names"],
        states=[ReservationState(state) for state in params["states"]],
    )
    return {"changed": False, "reservations": [booking.to_data() for booking in found]}
