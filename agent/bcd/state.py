# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What bcd keeps on the host, so that a restarted pod is the same node: identity, a join under way, and bookings.

One folder (0700), one small JSON file each (0600), replaced whole: a file is the old one or the new one, never half.
There is one bcd for a folder: the DaemonSet's pods of one node follow each other. A file that cannot be understood
counts as absent.
"""

from __future__ import annotations

import json
import logging
import os
import secrets
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .gateway import Accepted, Booked, Booking
from .secret import Secret

IDENTITY_FILE = "identity.json"
JOINING_FILE = "joining.json"
BOOKINGS_FILE = "bookings.json"

IDENTITY_BYTES = 32
NONCE_BYTES = 16

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """Who this machine is to the gateway.

    Attributes:
        secret: what every call shows.
        node_id: the gateway's name for it.
        heartbeat_seconds: how often the gateway wants to hear of it.
    """

    secret: Secret = field(repr=False)
    node_id: str
    heartbeat_seconds: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Joining:
    """A join that is under way: kept before it is sent, so that a repeat is the same join."""

    nonce: str
    secret: Secret = field(repr=False)


class StateFolder:
    """The folder with bcd's files."""

    def __init__(self, path: Path) -> None:
        """Make the folder, or close it to others if the kubelet made it (it makes host paths 0755)."""
        self._path = path
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.chmod(0o700)

    def identity(self) -> Identity | None:
        """The identity that the gateway last accepted."""
        data = self._read(IDENTITY_FILE)
        if data is None:
            return None
        try:
            return Identity(
                secret=Secret(str(data["identity"])),
                node_id=str(data["nodeId"]),
                heartbeat_seconds=int(data["heartbeatSeconds"]),
            )
        except (KeyError, TypeError, ValueError):
            _tell_unusable(IDENTITY_FILE)
            return None

    def joining(self) -> Joining:
        """The join that is under way; a fresh one, already kept, if there is none."""
        accepted = self.identity()
        data = self._read(JOINING_FILE)
        if data and isinstance(data.get("nonce"), str) and isinstance(data.get("identity"), str):
            joining = Joining(nonce=data["nonce"], secret=Secret(data["identity"]))
            # A crash between the two steps of accept() leaves a join that is over.
            if accepted is None or accepted.secret != joining.secret:
                return joining
        joining = Joining(
            nonce=secrets.token_urlsafe(NONCE_BYTES), secret=Secret(secrets.token_urlsafe(IDENTITY_BYTES))
        )
        self._write(JOINING_FILE, {"nonce": joining.nonce, "identity": joining.secret.reveal()})
        return joining

    def accept(self, joining: Joining, accepted: Accepted) -> Identity:
        """The gateway took the join: its identity is the machine's from now on."""
        identity = Identity(
            secret=joining.secret, node_id=accepted.node_id, heartbeat_seconds=accepted.heartbeat_seconds
        )
        self._write(
            IDENTITY_FILE,
            {
                "identity": identity.secret.reveal(),
                "nodeId": identity.node_id,
                "heartbeatSeconds": identity.heartbeat_seconds,
            },
        )
        (self._path / JOINING_FILE).unlink(missing_ok=True)
        return identity

    def booked(self, node_id: str) -> Booked:
        """What was booked when the gateway was last heard.

        Arguments:
            node_id: who asks. Under another id than the one that kept them (the machine joined again) the bookings
                stand until the gateway says otherwise, but their version means nothing.
        """
        nothing = Booked(version="", bookings=())
        data = self._read(BOOKINGS_FILE)
        if data is None:
            return nothing
        try:
            bookings = tuple(
                Booking(reservation_id=str(item["reservationId"]), device_ids=tuple(map(str, item["deviceIds"])))
                for item in data["bookings"]
            )
            return Booked(version=str(data["version"]) if data["nodeId"] == node_id else "", bookings=bookings)
        except (KeyError, TypeError):
            _tell_unusable(BOOKINGS_FILE)
            return nothing

    def keep_booked(self, node_id: str, booked: Booked) -> None:
        """Keep what is booked from now on."""
        listed = [
            {"reservationId": booking.reservation_id, "deviceIds": list(booking.device_ids)}
            for booking in booked.bookings
        ]
        self._write(BOOKINGS_FILE, {"nodeId": node_id, "version": booked.version, "bookings": listed})

    def _read(self, name: str) -> dict[str, Any] | None:
        try:
            data = json.loads((self._path / name).read_bytes())
        except FileNotFoundError:
            return None
        except ValueError:
            data = None
        if not isinstance(data, dict):
            _tell_unusable(name)
            return None
        return data

    def _write(self, name: str, data: dict[str, Any]) -> None:
        new = self._path / f"{name}.new"
        descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
        with os.fdopen(descriptor, "w") as file:
            os.fchmod(descriptor, 0o600)
            json.dump(data, file)
            file.flush()
            os.fsync(descriptor)
        new.replace(self._path / name)
        folder = os.open(self._path, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def _tell_unusable(name: str) -> None:
    logger.warning("%s in the state folder cannot be understood: going on as if it were not there", name)
