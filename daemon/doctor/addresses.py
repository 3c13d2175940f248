# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where gateway and API listen, by the settings, and whether bcd finds the gateway at the address that it is given."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from urllib.parse import urlsplit

from ansible_collections.better_compute.fleet.plugins.module_utils._core.documents.settings import ReadSettings
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.findings import Check, Verdict
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.checks.at_once import ask_all

from ..errors import NoCertificate
from ..own_certificate import present_certificate
from ..web.listening import try_address
from .certificate import is_any, judge_expiry
from .shown_key import SECONDS, Shown, ask

_LATE: Shown | str = f"no answer within {SECONDS:.0f} s"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Listener:
    """One that the settings ask for.

    Attributes:
        section: of the settings.
    """

    name: str
    section: str
    host: str
    port: int

    @property
    def about(self) -> str:
        return f"{self.name}'s address"

    @property
    def address(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    def meets(self, other: _Listener) -> bool:
        """Whether the two cannot both listen."""
        same_family = (":" in self.host) == (":" in other.host)
        overlap = self.host == other.host or (same_family and (is_any(self.host) or is_any(other.host)))
        return overlap and self.port == other.port != 0


_Found = Shown | str | OSError | None
"""At an address: what is shown there, or why nothing is though somebody listens; why nobody can; or nobody does."""


def check_addresses(read: ReadSettings, *, now: datetime) -> Iterator[Check]:
    """Whether gateway and API can listen where they are to, or do so already. Nobody listens there for it."""
    for name, section in (("gateway", "gateway"), ("API", "api")):
        if section in read.wrong:
            message = f"[{section}] in the settings is not right"
            yield Check(about=f"{name}'s address", verdict=Verdict.NOT_CHECKED, message=message)
    listeners = list(_listeners(read))
    looked_at = {one: partial(_look, one) for one in listeners if one.port}
    late: _Found = _LATE
    found = ask_all(looked_at, at_once=2, seconds=SECONDS, late=late)
    own = _own_pin(read)
    daemon_runs = any(isinstance(shown, Shown) and shown.pin == own for shown in found.values())
    for one in listeners:
        if not one.port:
            yield Check(about=one.about, verdict=Verdict.OK, message="any free port is taken (listen_port = 0)")
        elif one.section == "api" and any(one.meets(other) for other in listeners if other is not one):
            message = f"{one.address} is the gateway's, too: one of them cannot listen"
            yield _wrong(one, message, "give [api] another listen_port")
        else:
            yield _judge(one, found[one], own=own, daemon_runs=daemon_runs, now=now)
    if read.settings.api is None and "api" not in read.wrong:
        yield Check(about="API", verdict=Verdict.OK, message="none is served: the settings have no [api]")


def _listeners(read: ReadSettings) -> Iterator[_Listener]:
    gateway, api = read.settings.gateway, read.settings.api
    if "gateway" not in read.wrong:
        yield _Listener(name="gateway", section="gateway", host=gateway.listen_host, port=gateway.listen_port)
    if "api" not in read.wrong and api is not None:
        yield _Listener(name="API", section="api", host=api.listen_host, port=api.listen_port)


def _look(one: _Listener) -> _Found:
    try:
        try_address(one.host, one.port)
    except OSError as error:
        if error.errno not in (errno.EADDRINUSE, errno.EACCES):
            return error
        shown = ask(_LOOPBACK.get(one.host, one.host), one.port)
        # Who may not listen below 1024 is not told whether somebody does.
        return error if error.errno == errno.EACCES and isinstance(shown, str) else shown
    return None


_LOOPBACK = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 -- nobody listens there
"""Where this host reaches itself that listens on every address."""


def _judge(one: _Listener, found: _Found, *, own: str | None, daemon_runs: bool, now: datetime) -> Check:
    """Arguments: own: the pin of this host's key; None where it has none that can be read."""
    if found is None and daemon_runs:
        message = f"nobody listens on {one.address}, and yet a daemon runs here"
        cure = f"restart bc-fleetd: it began before [{one.section}] was as it is now"
        return Check(about=one.about, verdict=Verdict.WARNING, message=message, cure=cure)
    if found is None:
        return Check(about=one.about, verdict=Verdict.OK, message=f"{one.address} is free, and nobody listens there")
    if isinstance(found, OSError):
        return _cannot(one, found)
    if isinstance(found, Shown) and found.pin == own:
        verdict, until = judge_expiry(found.until, now=now)
        if one.section == "api" and verdict != Verdict.OK:
            message = f"the certificate that is shown at {one.address} {until}"
            cure = "renew it (see the line about it); a daemon reads it when it begins, so restart it"
            return Check(about=one.about, verdict=verdict, message=message, cure=cure)
        return Check(about=one.about, verdict=Verdict.OK, message=f"{one.address} answers with this host's key")
    who = f"its key is another than this host's (pin {found.pin})" if isinstance(found, Shown) else found
    cure = f"stop it, or give [{one.section}] another listen_port; a bc-fleetd that began with another key, restart"
    if own is None:
        message = f"{one.address} is taken, and this host has no key to know by whether it is the daemon ({who})"
        return Check(about=one.about, verdict=Verdict.WARNING, message=message, cure=cure)
    return _wrong(one, f"{one.address} is taken by something else: {who}", cure)


def _cannot(one: _Listener, error: OSError) -> Check:
    message = f"this host cannot listen on {one.address}: {error.strerror}"
    if error.errno == errno.EACCES:
        message = f"this user may not listen on {one.address}"
        cure = "see that the daemon may (CAP_NET_BIND_SERVICE, which the role's unit has), or take a port from 1024 on"
        return Check(about=one.about, verdict=Verdict.WARNING, message=message, cure=cure)
    return _wrong(one, message, f"give [{one.section}] a listen_host that is this host's own, or 0.0.0.0 for all")


def _wrong(one: _Listener, message: str, cure: str) -> Check:
    return Check(about=one.about, verdict=Verdict.PROBLEM, message=message, cure=cure)


def _own_pin(read: ReadSettings) -> str | None:
    if "gateway" in read.wrong:
        return None
    try:
        certificate = present_certificate(read.settings)
    except (NoCertificate, PermissionError):
        return None
    return certificate.pin if certificate else None


def check_gateway(read: ReadSettings) -> Check:
    """Whether the gateway answers at the address that bcd is given, with a key that bcd is told to trust."""
    about, agent = "gateway", read.settings.agent
    if "agent" in read.wrong:
        return Check(about=about, verdict=Verdict.NOT_CHECKED, message="[agent] in the settings is not right")
    if agent is None:
        return Check(about=about, verdict=Verdict.NOT_CHECKED, message="the settings give it no address ([agent])")
    parts = urlsplit(agent.gateway_url)
    asked = partial(ask, parts.hostname or "", parts.port or 443)
    found = ask_all({about: asked}, at_once=1, seconds=SECONDS, late=_LATE)[about]
    if isinstance(found, str):
        return Check(
            about=about,
            verdict=Verdict.WARNING,
            message=f"{agent.gateway_url} does not answer this host: {found}",
            cure="see that `bc-fleetd run` runs there; if only nodes reach that address, try it from one of them",
        )
    if found.pin not in agent.pins:
        return Check(
            about=about,
            verdict=Verdict.PROBLEM,
            message=f"{agent.gateway_url} answers with a key that [agent] pins do not name (its pin is {found.pin})",
            cure="correct gateway_url or pins; where neither is wrong, somebody stands between",
        )
    return Check(about=about, verdict=Verdict.OK, message=f"{agent.gateway_url} answers with a pinned key")
