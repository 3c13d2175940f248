# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reading a request: its credential and its body, within the sizes and times of wire/."""

from __future__ import annotations

import asyncio
import base64
import binascii
from dataclasses import dataclass

from starlette.requests import ClientDisconnect, Request

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import Code
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.secret import Secret

from .protocol import WHOLE

BODY_BYTES = 32 * 1024
"""Of a request (wire: x-limits): 64 GPUs with the longest ids and models are about 14 KiB."""

BODY_SECONDS = 10.0
"""For a request's body to arrive; bcd sends a few KiB in one go."""

BEARER_CHARACTERS = 512
"""Of a credential (wire: x-limits)."""


@dataclass(frozen=True, slots=True)
class Refused(Exception):
    """A request that is refused for its form.

    Attributes:
        close: whether the connection is of no use any more, because the request was not read to its end.
    """

    status: int
    code: Code
    message: str
    close: bool = False


async def read_body(request: Request, *, most_bytes: int = BODY_BYTES) -> bytes:
    """The body, if it is small enough and comes soon enough.

    Raises:
        Refused: 408, 413.
        ClientDisconnect: it went away before.
    """
    too_large = Refused(413, Code.INVALID_INPUT, f"a body has at most {most_bytes} bytes", close=True)
    told = request.headers.get("content-length", "0")
    if not told.isdecimal() or int(told) > most_bytes:
        raise too_large
    content = bytearray()
    # Most are there with their heads: they are not waited for, and a timer would cost as much as reading them.
    seconds = None if WHOLE in request.scope.get("extensions", ()) else BODY_SECONDS
    try:
        async with asyncio.timeout(seconds):
            more = True
            while more:
                message = await request.receive()
                if message["type"] == "http.disconnect":
                    raise ClientDisconnect
                content += message["body"]
                more = message["more_body"]
                if len(content) > most_bytes:
                    raise too_large
    except TimeoutError:
        raise Refused(408, Code.INVALID_INPUT, "the body did not arrive in time", close=True) from None
    return bytes(content)


def read_bearer(request: Request) -> Secret:
    """The credential.

    Raises:
        Refused: 401 when there is none, or it cannot be one.
    """
    credential = _credential(request, scheme="bearer")
    if credential is None:
        raise Refused(401, Code.UNAUTHENTICATED, "expected 'Authorization: Bearer' with a credential")
    return Secret(credential)


def read_password(request: Request) -> Secret:
    """The credential, as a browser sends what a person types in as a password (RFC 7617); the name does not matter.

    Raises:
        Refused: 401 when there is none, or it cannot be one.
    """
    try:
        pair = base64.b64decode(_credential(request, scheme="basic") or "", validate=True)
        # Only the password has to be ASCII: a browser sends a name of any letters.
        password = pair.partition(b":")[2].decode("ascii")
    except (binascii.Error, UnicodeDecodeError):
        password = ""
    if not password:
        raise Refused(401, Code.UNAUTHENTICATED, "expected an API token as the password; any name will do")
    return Secret(password)


def _credential(request: Request, *, scheme: str) -> str | None:
    """What follows the scheme; None when another is there, or what follows cannot be one."""
    told, _blank, credential = request.headers.get("authorization", "").partition(" ")
    fits = 1 <= len(credential) <= BEARER_CHARACTERS and credential.isascii()
    return credential if told.lower() == scheme and fits else None
