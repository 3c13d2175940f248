# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What this host has of the deployment: its files, the gateway's certificate, and the gateway as it answers."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

from cryptography import x509

from ansible_collections.better_compute.fleet.plugins.module_utils._core.documents.settings import ReadSettings
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.findings import Check, Verdict
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.checks.at_once import ask_all
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.checks.files import (
    check_guarded,
    check_private,
)

from ..errors import NoCertificate
from ..own_certificate import certificate_files, is_pinned, present_certificate
from ..web.certificate import pin_of

_SECONDS = 5.0
"""For the gateway's name and its answer together."""

_GATEWAY_WRONG = "[gateway] in the settings is not right"
_AGENT_WRONG = "[agent] in the settings is not right"


def check_files(read: ReadSettings, file: Path | str | None) -> Iterator[Check]:
    """Who else can read or write the files of the deployment; one that is not there is no matter here."""
    found: list[Check | None] = []
    if file is not None and "\0" not in str(file):
        held = "the database's password" if _has_password(read) else ""
        path = Path(file)
        found.append(check_guarded(path, about="settings file", why="have nodes trust another gateway"))
        if held:
            found.append(check_private(path, about="settings file", holds=held))
    if "gateway" not in read.wrong:
        gateway = read.settings.gateway
        _certificate_file, key_file = certificate_files(read.settings)
        found.append(check_private(key_file, about="gateway's key", holds="the key that every node trusts"))
        found.append(check_guarded(gateway.state_dir, about="state folder", why="put another key there"))
    yield from (check for check in found if check)


def _has_password(read: ReadSettings) -> bool:
    return "store" not in read.wrong and bool(urlsplit(read.settings.store.database_url).password)


def check_certificate(read: ReadSettings) -> Check:
    """Whether the certificate of this host's gateway can be used, and is the one that bcd is told to trust."""
    about = "certificate"
    if "gateway" in read.wrong:
        return Check(about=about, verdict=Verdict.NOT_CHECKED, message=_GATEWAY_WRONG)
    certificate_file, key_file = certificate_files(read.settings)
    try:
        certificate = present_certificate(read.settings)
        if certificate is None:
            message = f"there is none on this host ({certificate_file})"
            cure = "where the gateway is to run, `bc-fleetd certificate` makes it"
            return Check(about=about, verdict=Verdict.NOT_CHECKED, message=message, cure=cure)
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(certificate_file, key_file)
    except PermissionError:
        message = f"{key_file} cannot be read by this user"
        return Check(about=about, verdict=Verdict.NOT_CHECKED, message=message, cure="run this as the gateway's user")
    except (NoCertificate, OSError, ssl.SSLError) as error:
        message = str(error) if isinstance(error, NoCertificate) else f"{key_file} is not the key of {certificate_file}"
        cure = "put both right, or let `bc-fleetd certificate` make new ones elsewhere ([gateway] state_dir)"
        return Check(about=about, verdict=Verdict.PROBLEM, message=message, cure=cure)
    if "agent" in read.wrong:
        return Check(about=about, verdict=Verdict.NOT_CHECKED, message=_AGENT_WRONG)
    if not is_pinned(read.settings, certificate):
        return Check(
            about=about,
            verdict=Verdict.PROBLEM,
            message=f"[agent] pins do not name this gateway's key, pin {certificate.pin}: nodes would refuse it",
            cure="add that pin to pins; where nodes trust another key already, put that key back",
        )
    return Check(about=about, verdict=Verdict.OK, message=f"{certificate_file}, pin {certificate.pin}")


def check_gateway(read: ReadSettings) -> Check:
    """Whether the gateway answers at the address that bcd is given, with a key that bcd is told to trust."""
    about, agent = "gateway", read.settings.agent
    if "agent" in read.wrong:
        return Check(about=about, verdict=Verdict.NOT_CHECKED, message=_AGENT_WRONG)
    if agent is None:
        return Check(about=about, verdict=Verdict.NOT_CHECKED, message="the settings give it no address ([agent])")
    late: _Pin | str = f"no answer within {_SECONDS:.0f} s"
    found = ask_all({about: partial(_ask, agent.gateway_url)}, at_once=1, seconds=_SECONDS, late=late)[about]
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


@dataclass(frozen=True, slots=True)
class _Pin:
    """Of the key that a server showed."""

    pin: str


def _ask(url: str) -> _Pin | str:
    """The pin of the key that the server shows, or why there is none. Nothing is sent."""
    parts = urlsplit(url)
    # As bcd does: the key alone is looked at, by its pin.
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    try:
        with (
            socket.create_connection((parts.hostname or "", parts.port or 443), timeout=_SECONDS) as connection,
            context.wrap_socket(connection, server_hostname=parts.hostname) as secured,
        ):
            shown = secured.getpeercert(binary_form=True)
        if not shown:
            return "it shows no certificate"
        return _Pin(pin_of(x509.load_der_x509_certificate(shown)))
    except socket.gaierror as error:
        return f"its name cannot be resolved ({error.strerror})"
    except OSError as error:
        return error.strerror or type(error).__name__
    except ValueError:
        return "its certificate makes no sense"
