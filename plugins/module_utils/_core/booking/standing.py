# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is booked on a node: what the gateway answers bcd's long poll with."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from ..model.ids import NodeId, ReservationId
from ..model.records import Reservation
from ..store import Tx, reservations

_VERSION_CHARACTERS = 32
"""128 bits of a SHA-256: versions of one node are only compared with each other."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Booking:
    """A reservation that stands on the node, and its devices in order."""

    reservation_id: ReservationId
    device_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bookings:
    """Everything that stands on a node.

    Attributes:
        version: the same for the same bookings, whoever asks and whenever; nothing else is to be read from it.
    """

    version: str
    bookings: tuple[Booking, ...]


def bookings_for_nodes(tx: Tx, node_ids: Collection[NodeId]) -> dict[NodeId, Bookings]:
    """What stands on each of these nodes now, ordered by reservation, out of one read.

    A node that is unknown or retired has nothing booked.
    """
    found = reservations.bookings_of_nodes(tx, node_ids)
    nothing = _bookings(())
    return {node_id: _bookings(found[node_id]) if node_id in found else nothing for node_id in node_ids}


def _bookings(found: Iterable[Reservation]) -> Bookings:
    bookings = tuple(
        Booking(reservation_id=one.id, device_ids=tuple(sorted(one.device_ids)))
        for one in sorted(found, key=lambda one: one.id)
    )
    return Bookings(version=_version(bookings), bookings=bookings)


def _version(bookings: tuple[Booking, ...]) -> str:
    text = "\n".join(" ".join((one.reservation_id, *one.device_ids)) for one in bookings)
    return hashlib.sha256(text.encode()).hexdigest()[:_VERSION_CHARACTERS]
