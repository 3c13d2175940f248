# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What bcd's device plugin tells the kubelet, and what a container gets."""

from __future__ import annotations

from pathlib import Path

import pytest

from bcd.device_plugin.contents import Advertised, NotToBeGiven, Platform, Supply, advertised, given, preferred
from bcd.gateway import Booking
from bcd.inventory import Gpu, device_files

FIRST = Booking(reservation_id="rsv_" + "1" * 26, device_ids=("GPU-0", "GPU-1"))
SECOND = Booking(reservation_id="rsv_" + "2" * 26, device_ids=("GPU-2", "GPU-3", "GPU-4"))
GPUS = tuple(
    Gpu(id=f"GPU-{number}", model="NVIDIA H100 80GB HBM3", nodes=(f"/dev/nvidia{number}", "/dev/nvidiactl"))
    for number in range(8)
)


def supply(*bookings: Booking, gpus: tuple[Gpu, ...] = GPUS, unhealthy: frozenset[str] = frozenset()) -> Supply:
    return Supply(bookings=bookings, gpus=gpus, unhealthy=unhealthy)


def test_nothing_is_advertised_that_no_reservation_holds() -> None:
    assert advertised(supply()) == ()
    assert advertised(supply(FIRST)) == (Advertised("GPU-0", True), Advertised("GPU-1", True))


def test_what_the_machine_does_not_have_is_not_advertised_although_it_is_booked() -> None:
    assert advertised(supply(FIRST, gpus=GPUS[1:])) == (Advertised("GPU-1", True),)
    assert advertised(supply(FIRST, gpus=())) == ()


def test_a_gpu_that_has_gone_bad_stays_in_the_list_and_is_not_healthy() -> None:
    listed = advertised(supply(FIRST, unhealthy=frozenset({"GPU-1", "GPU-7"})))
    assert listed == (Advertised("GPU-0", True), Advertised("GPU-1", False))


def test_a_container_gets_its_gpus_and_no_others() -> None:
    got = given(["GPU-1", "GPU-0"], supply(FIRST, SECOND), Platform())
    assert got.variables == {"NVIDIA_VISIBLE_DEVICES": "GPU-1,GPU-0", "BC_RESERVATION_IDS": FIRST.reservation_id}
    assert got.nodes == ("/dev/nvidia0", "/dev/nvidia1", "/dev/nvidiactl")


def test_a_container_is_told_the_control_plane_and_every_reservation_it_lives_on() -> None:
    got = given(["GPU-1", "GPU-4"], supply(SECOND, FIRST), Platform(control_plane_url="https://compute.example"))
    assert got.variables["BC_CONTROL_PLANE_URL"] == "https://compute.example"
    assert got.variables["BC_RESERVATION_IDS"] == f"{FIRST.reservation_id},{SECOND.reservation_id}"


def test_a_container_gets_the_driver_where_no_runtime_brings_it() -> None:
    platform = Platform(driver_folder="/home/kubernetes/bin/nvidia")
    assert given(["GPU-0"], supply(FIRST), platform).driver_folder == "/home/kubernetes/bin/nvidia"
    assert given(["GPU-0"], supply(FIRST), Platform()).driver_folder is None
    assert given([], supply(FIRST), platform).driver_folder is None


def test_a_container_without_gpus_gets_nothing() -> None:
    got = given([], supply(FIRST), Platform(control_plane_url="https://compute.example"))
    assert (got.variables, got.nodes) == ({}, ())


@pytest.mark.parametrize(
    ("asked", "held", "told"),
    [
        (["GPU-5"], supply(FIRST, SECOND), "GPU-5 is held by no reservation"),
        (["GPU-0", "GPU-2"], supply(FIRST), "GPU-2 is held by no reservation"),
        (["GPU-0"], supply(FIRST, gpus=()), "GPU-0 is held by no reservation"),
        (["GPU-0"], supply(FIRST, unhealthy=frozenset({"GPU-0"})), "GPU-0 has gone bad"),
    ],
)
def test_what_is_not_booked_or_not_fit_is_refused_by_name(asked: list[str], held: Supply, told: str) -> None:
    with pytest.raises(NotToBeGiven, match=told):
        given(asked, held, Platform())


EVERY_BOOKED = {"GPU-0", "GPU-1", "GPU-2", "GPU-3", "GPU-4"}


@pytest.mark.parametrize(
    ("available", "needed", "size", "chosen"),
    [
        (EVERY_BOOKED, [], 1, ("GPU-0",)),
        (EVERY_BOOKED, [], 2, ("GPU-0", "GPU-1")),
        (EVERY_BOOKED, [], 3, ("GPU-2", "GPU-3", "GPU-4")),
        (EVERY_BOOKED, [], 4, ("GPU-2", "GPU-3", "GPU-4", "GPU-0")),
        (EVERY_BOOKED, ["GPU-3"], 2, ("GPU-3", "GPU-2")),
        (EVERY_BOOKED, ["GPU-3"], 4, ("GPU-3", "GPU-2", "GPU-4", "GPU-0")),
        ({"GPU-1", "GPU-2"}, [], 2, ("GPU-1", "GPU-2")),
        ({"GPU-1"}, [], 2, ("GPU-1",)),
    ],
)
def test_a_container_lives_on_as_few_reservations_as_can_be(
    available: set[str], needed: list[str], size: int, chosen: tuple[str, ...]
) -> None:
    assert preferred(available, needed=needed, size=size, bookings=(FIRST, SECOND)) == chosen


def test_only_device_files_that_are_there_are_given(tmp_path: Path) -> None:
    for name in ("nvidia0", "nvidia1", "nvidiactl", "nvidia-uvm"):
        (tmp_path / name).touch()
    assert device_files(tmp_path, minor=1) == tuple(str(tmp_path / n) for n in ("nvidia1", "nvidiactl", "nvidia-uvm"))
