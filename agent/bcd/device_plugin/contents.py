# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the kubelet is told: the list of devices, what a container gets, which devices fit together. Pure.

How a container comes to see its GPUs, on each of the three providers:

- `NVIDIA_VISIBLE_DEVICES` names them by UUID. NVIDIA's container runtime, which EKS' AL2023 images and DOKS' GPU images
  bring, puts driver and devices into the container, whether it works by its hook or by CDI underneath.
- The device files are given, too, where bcd sees them. GKE's Container-Optimized OS has no such runtime: there they are
  what opens a GPU. Beside NVIDIA's runtime they do no harm, and they keep a GPU open to the container when the kubelet
  writes its cgroup anew (static CPU manager).
- Where nothing else brings the driver's libraries, on GKE, the host's folder is mounted to the place where GKE's own
  plugin mounts it, which is where CUDA's images look.
- CDI names are not used: a container runtime without a CDI specification of that name refuses the container.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from ..gateway import Booking
from ..inventory import Gpu

VISIBLE_DEVICES = "NVIDIA_VISIBLE_DEVICES"
RESERVATION_IDS = "BC_RESERVATION_IDS"
CONTROL_PLANE_URL = "BC_CONTROL_PLANE_URL"

DRIVER_MOUNT = "/usr/local/nvidia"
"""Where a container finds a driver that is mounted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Supply:
    """This machine's GPUs, and what is booked of them.

    Attributes:
        bookings: the reservations on this machine.
        gpus: those that it has.
        unhealthy: the ids of those that have gone bad.
    """

    bookings: tuple[Booking, ...]
    gpus: tuple[Gpu, ...]
    unhealthy: frozenset[str]


@dataclass(frozen=True, slots=True, order=True)
class Advertised:
    """One device of the list."""

    id: str
    healthy: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Platform:
    """What is the same for every container with GPUs on this machine.

    Attributes:
        control_plane_url: the platform's API, for workloads.
        driver_folder: where the driver lies on the host, if containers need it mounted.
    """

    control_plane_url: str | None = None
    driver_folder: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """What a container gets.

    Attributes:
        nodes: device files; their paths are the host's.
        driver_folder: the folder of the host to mount to DRIVER_MOUNT.
    """

    variables: Mapping[str, str]
    nodes: tuple[str, ...]
    driver_folder: str | None = None


class NotToBeGiven(Exception):
    """No reservation holds the device, or it is not fit. The text is for whoever reads the pod's events."""


def advertised(supply: Supply) -> tuple[Advertised, ...]:
    """The devices that a reservation holds and the machine has, sorted."""
    booked = {device for booking in supply.bookings for device in booking.device_ids}
    return tuple(sorted(Advertised(gpu.id, gpu.id not in supply.unhealthy) for gpu in supply.gpus if gpu.id in booked))


def given(device_ids: Sequence[str], supply: Supply, platform: Platform) -> Given:
    """What a container with these devices gets.

    The kubelet may have chosen from a list that is older than the end of a reservation, so everything is asked again.

    Raises:
        NotToBeGiven: one of them is not to be had now.
    """
    healthy = {device.id: device.healthy for device in advertised(supply)}
    for device in device_ids:
        if device not in healthy:
            raise NotToBeGiven(f"{device} is held by no reservation on this machine")
        if not healthy[device]:
            raise NotToBeGiven(f"{device} has gone bad")
    if not device_ids:
        return Given(variables={}, nodes=())
    wanted = set(device_ids)
    reservations = [booking.reservation_id for booking in supply.bookings if wanted & set(booking.device_ids)]
    variables = {VISIBLE_DEVICES: ",".join(device_ids), RESERVATION_IDS: ",".join(sorted(reservations))}
    if platform.control_plane_url:
        variables[CONTROL_PLANE_URL] = platform.control_plane_url
    nodes = {node for gpu in supply.gpus if gpu.id in wanted for node in gpu.nodes}
    return Given(variables=variables, nodes=tuple(sorted(nodes)), driver_folder=platform.driver_folder)


def preferred(
    available: Collection[str], *, needed: Sequence[str], size: int, bookings: Sequence[Booking]
) -> tuple[str, ...]:
    """Which of the available devices a container should get: of as few reservations as can be.

    So the end of one reservation does not take a GPU from a pod that lives on another's.

    Arguments:
        available: ids to choose from.
        needed: ids that must be among them.
        size: how many in all.
        bookings: the reservations on this machine.
    """
    chosen = list(needed)
    left = {
        booking.reservation_id: sorted(set(booking.device_ids) & set(available) - set(needed)) for booking in bookings
    }
    begun = {booking.reservation_id for booking in bookings if set(booking.device_ids) & set(needed)}
    while len(chosen) < size and any(left.values()):
        missing = size - len(chosen)
        # One that was begun; else the smallest that is enough, else the largest.
        best = min(
            (name for name, devices in left.items() if devices),
            key=lambda name: (
                name not in begun,
                len(left[name]) < missing,
                len(left[name]) if len(left[name]) >= missing else -len(left[name]),
                name,
            ),
        )
        chosen += left.pop(best)[:missing]
    return tuple(chosen)
