# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One request and one answer of an emulator, and the two ways in which a scripted fault spoils them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One request to an emulator.

    Attributes:
        cloud: whose emulator it is: `aws`, `kubernetes`, …
        name: what is asked, in the emulator's own words: `eks.CreateNodegroup`, `POST daemonsets`.
        target: which object it is about, for people and for fault scripts; empty when there is none.
        mutating: whether a successful call changes something there.
    """

    cloud: str
    name: str
    target: str = ""
    mutating: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What goes back over the wire.

    Attributes:
        status: the HTTP status.
        body: the whole body.
        headers: header fields, without Content-Length.
    """

    status: int
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)


class InjectedError(Exception):
    """A scripted refusal. The emulator renders it as its cloud would: status, code and message.

    Raised before the effect: nothing has happened.
    """

    def __init__(self, *, status: int, code: str, message: str) -> None:
        """Arguments: status: HTTP status; code: the cloud's error code; message: its text."""
        super().__init__(f"{status} {code}: {message}")
        self.status = status
        self.code = code
        self.message = message


class ReplyLost(Exception):
    """The effect has happened and the caller must not hear of it: the emulator drops the connection."""
