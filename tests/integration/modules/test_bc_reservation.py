# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""bc_reservation: a name books once, gives back once, and is free again."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.better_compute.fleet.plugins.module_utils._core.store.tables import tables
from ansible_collections.better_compute.fleet.tests.support.life.world import document, without_pools
from ansible_collections.better_compute.fleet.tests.support.module_runs import Modules


@pytest.fixture
def fleet(modules: Modules) -> Modules:
    """The modules, with the example's pool recorded and a quota of 16 GPUs."""
    modules.run("bc_fleet", config=document(), wait=False)
    return modules


def reservation(modules: Modules, name: str = "train-1", **arguments: Any) -> dict[str, Any]:
    return modules.run("bc_reservation", pool="gpu-fleet", name=name, **arguments)


def used(modules: Modules) -> int:
    quotas: list[dict[str, int]] = modules.run("bc_fleet_info")["quotas"]
    return quotas[0]["used"]


def test_a_name_books_once_and_gives_back_once(fleet: Modules) -> None:
    made = reservation(fleet, gpus=4)
    assert (made["failed"], made["changed"]) == (False, True)
    assert (made["reservation"]["state"], made["reservation"]["gpus"]) == ("pending", 4)
    again = reservation(fleet, gpus=4)
    assert (again["changed"], again["reservation"]) == (False, made["reservation"])
    assert used(fleet) == 4

    released = reservation(fleet, state="absent")
    assert (released["changed"], released["reservation"]["state"]) == (True, "released")
    again = reservation(fleet, state="absent")
    assert (again["failed"], again["changed"], again["reservation"]) == (False, False, released["reservation"])
    assert used(fleet) == 0
    never = reservation(fleet, "never-made", state="absent")
    assert (never["failed"], never["changed"], never["reservation"]) == (False, False, None)


def test_a_name_is_free_again_however_often_it_was_used(fleet: Modules) -> None:
    ids = set()
    for gpus in (1, 2, 3):
        ids.add(reservation(fleet, gpus=gpus)["reservation"]["id"])
        reservation(fleet, state="absent")
    assert len(ids) == 3
    assert len(fleet.fleet.rows()[tables().idempotency.name]) == 1, "finding it costs the same each time"


def test_a_machine_that_joined_has_its_gpus_booked_and_named(modules: Modules) -> None:
    modules.fleet.join_all(document())
    made = reservation(modules, gpus=2)["reservation"]
    assert (made["state"], len(made["device_ids"])) == ("bound", 2)
    assert made["node_id"] in {node.id for node in modules.fleet.nodes().values()}


def test_a_reservation_never_changes_its_size(fleet: Modules) -> None:
    reservation(fleet, gpus=2)
    for check in (True, False):
        refused = reservation(fleet, gpus=3, check=check)
        assert (refused["failed"], refused["code"]) == (True, "CONFLICT")
        assert "stands with 2 GPUs" in refused["msg"]


def test_what_is_refused_is_refused_in_check_mode_too(fleet: Modules) -> None:
    reservation(fleet, "first", gpus=1)
    rows = fleet.fleet.rows()
    refusals: list[tuple[dict[str, Any], str]] = [
        ({"gpus": 17}, "INVALID_INPUT"),
        ({"gpus": 0}, "INVALID_INPUT"),
        ({"gpus": 1, "name": "ü"}, "INVALID_INPUT"),
        ({"gpus": 1, "tenant": "acme"}, "NOT_FOUND"),
        ({"gpus": 16}, "QUOTA_EXCEEDED"),
    ]
    for arguments, code in refusals:
        for check in (True, False):
            refused = reservation(fleet, check=check, **arguments)
            assert (refused["failed"], refused["code"]) == (True, code), arguments
    assert fleet.fleet.rows() == rows


def test_check_mode_says_what_would_happen_and_writes_nothing(fleet: Modules) -> None:
    rows = fleet.fleet.rows()
    checked = reservation(fleet, gpus=4, check=True)
    assert (checked["changed"], checked["reservation"]) == (True, None)
    assert fleet.fleet.rows() == rows
    made = reservation(fleet, gpus=4)
    rows = fleet.fleet.rows()
    assert not reservation(fleet, gpus=4, check=True)["changed"]
    checked = reservation(fleet, state="absent", check=True)
    assert (checked["changed"], checked["reservation"]) == (True, made["reservation"])
    assert fleet.fleet.rows() == rows


def test_a_pool_on_its_way_out_takes_no_bookings_and_its_own_can_be_given_back_by_its_name(fleet: Modules) -> None:
    reservation(fleet, gpus=1)
    fleet.fleet.apply(without_pools(), prune=True)
    refused = reservation(fleet, "another", gpus=1)
    assert refused["code"] == "INVALID_STATE"
    released = reservation(fleet, state="absent")
    assert (released["failed"], released["changed"]) == (False, True)


def test_present_needs_a_size(fleet: Modules) -> None:
    refused = reservation(fleet)
    assert refused["failed"]
    assert "gpus" in refused["msg"]
