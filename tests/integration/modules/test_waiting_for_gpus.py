# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""bc_reservation says what a booking waits for, and waits for it where that is asked for."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from ansible_collections.better_compute.fleet.plugins.module_utils._core.booking import reserve
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.ids import PLATFORM_TENANT, ReservationId
from ansible_collections.better_compute.fleet.tests.support.life.world import document, without_pools
from ansible_collections.better_compute.fleet.tests.support.module_runs import Modules

NOBODY = "no node of the pool has joined yet"


def book(modules: Modules, **arguments: Any) -> dict[str, Any]:
    return modules.run("bc_reservation", pool="gpu-fleet", name="train-1", gpus=8, **arguments)


def test_a_pending_booking_says_what_it_waits_for_each_time_it_is_asked(modules: Modules) -> None:
    modules.run("bc_fleet", config=document(), wait=False)
    rows = None
    for _time in range(2):
        made = book(modules)["reservation"]
        assert (made["state"], made["message"]) == ("pending", NOBODY)
        assert rows in (None, modules.fleet.rows()), "what is told is not recorded"
        rows = modules.fleet.rows()
    assert book(modules, check=True)["reservation"]["message"] == NOBODY


def test_it_waits_until_a_node_has_joined_and_the_gpus_are_there(modules: Modules) -> None:
    modules.run("bc_fleet", config=document(), wait=False)

    def daemon() -> None:
        modules.fleet.run_due()

    modules.before_sleep = daemon
    made = book(modules, wait=True)
    assert (made["failed"], made["changed"]) == (False, True)
    assert (made["reservation"]["state"], made["reservation"]["message"]) == ("bound", "")
    again = book(modules, wait=True)
    assert (again["changed"], again["reservation"]) == (False, made["reservation"])


def test_a_wait_in_vain_fails_with_the_reason_and_leaves_the_booking(modules: Modules) -> None:
    modules.run("bc_fleet", config=document(), wait=False)
    began = modules.fleet.scene.clock.now()
    late = book(modules, wait=True, wait_timeout=60)
    assert (late["failed"], late["changed"], late["code"]) == (True, True, "INVALID_STATE")
    assert late["msg"] == f"the reservation is pending after 60 s: {NOBODY}"
    assert late["reservation"]["state"] == "pending"
    assert modules.fleet.scene.clock.now() - began == timedelta(seconds=60)
    assert not book(modules)["changed"]


def test_nobody_waits_for_what_a_pool_on_its_way_out_never_places(modules: Modules) -> None:
    modules.run("bc_fleet", config=document(), wait=False)
    book(modules)
    modules.fleet.apply(without_pools(), prune=True)
    began = modules.fleet.scene.clock.now()
    refused = book(modules, wait=True)
    assert refused["failed"]
    assert refused["msg"].startswith("the reservation is pending: pool gpu-fleet is being torn down")
    assert modules.fleet.scene.clock.now() == began


def test_a_booking_that_ends_while_it_is_waited_for_fails_the_task(modules: Modules) -> None:
    modules.run("bc_fleet", config=document(), wait=False)
    made = book(modules)["reservation"]

    def release() -> None:
        reserve.release(
            modules.fleet.session.store, tenant_id=PLATFORM_TENANT, reservation_id=ReservationId(made["id"])
        )

    modules.before_sleep = release
    ended = book(modules, wait=True)
    assert (ended["failed"], ended["changed"]) == (True, False)
    assert ended["msg"].startswith("the reservation is released")


def test_check_mode_waits_for_nothing(modules: Modules) -> None:
    modules.run("bc_fleet", config=document(), wait=False)
    book(modules)
    began = modules.fleet.scene.clock.now()
    assert not book(modules, check=True, wait=True)["failed"]
    assert modules.fleet.scene.clock.now() == began
