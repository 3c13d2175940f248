# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The certificate of this host, which gateway and API show: bcd looks at its key alone, callers of the API at all."""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from datetime import datetime, timedelta
from ipaddress import ip_address
from urllib.parse import urlsplit

from cryptography import x509

from ansible_collections.better_compute.fleet.plugins.module_utils._core.documents.settings import (
    ApiSettings,
    ReadSettings,
    Settings,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.findings import Check, Verdict

from ..errors import NoCertificate
from ..own_certificate import certificate_files, is_pinned, present_certificate
from ..web.certificate import Certificate, not_named

SOON = timedelta(days=14)
"""Before it expires somebody should know. What renews certificates does so with a third of their time left: that is a
fortnight even of those that are valid for six weeks."""


def check_certificate(read: ReadSettings, *, now: datetime) -> Iterator[Check]:
    """Whether the certificate can be used, is the one that bcd is told to trust, and is good for callers of the API."""
    about = "certificate"
    if "gateway" in read.wrong:
        yield Check(about=about, verdict=Verdict.NOT_CHECKED, message="[gateway] in the settings is not right")
        return
    certificate_file, key_file = certificate_files(read.settings)
    try:
        certificate = present_certificate(read.settings)
        if certificate is None:
            message = f"there is none on this host ({certificate_file})"
            cure = "where the gateway is to run, `bc-fleetd certificate` makes it"
            yield Check(about=about, verdict=Verdict.NOT_CHECKED, message=message, cure=cure)
            return
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(certificate_file, key_file)
    except PermissionError:
        message = f"{key_file} cannot be read by this user"
        yield Check(about=about, verdict=Verdict.NOT_CHECKED, message=message, cure="run this as the gateway's user")
        return
    except (NoCertificate, OSError, ssl.SSLError) as error:
        message = str(error) if isinstance(error, NoCertificate) else f"{key_file} is not the key of {certificate_file}"
        cure = "put both right, or let `bc-fleetd certificate` make new ones elsewhere ([gateway] state_dir)"
        yield Check(about=about, verdict=Verdict.PROBLEM, message=message, cure=cure)
        return
    yield _trusted(read, certificate)
    if read.settings.api is not None:
        yield _good_for_callers(read.settings, read.settings.api, certificate, now=now)


def _trusted(read: ReadSettings, certificate: Certificate) -> Check:
    about = "certificate"
    if "agent" in read.wrong:
        return Check(about=about, verdict=Verdict.NOT_CHECKED, message="[agent] in the settings is not right")
    if not is_pinned(read.settings, certificate):
        return Check(
            about=about,
            verdict=Verdict.PROBLEM,
            message=f"[agent] pins do not name this gateway's key, pin {certificate.pin}: nodes would refuse it",
            cure="add that pin to pins; where nodes trust another key already, put that key back",
        )
    return Check(about=about, verdict=Verdict.OK, message=f"{certificate.certificate_file}, pin {certificate.pin}")


def _good_for_callers(settings: Settings, api: ApiSettings, certificate: Certificate, *, now: datetime) -> Check:
    about, file = "API's certificate", certificate.certificate_file
    read = x509.load_pem_x509_certificate(file.read_bytes())
    own_making = settings.gateway.certificate_file is None
    verdict, told = judge_expiry(read.not_valid_after_utc, now=now)
    name = _name_for_callers(settings, api)
    # Which names somebody's own certificate should have, only they know.
    if verdict == Verdict.OK and own_making and name and not_named(read, [name]):
        verdict, told = Verdict.WARNING, f"does not name {name}: callers that look at names refuse it"
    cure = "" if verdict == Verdict.OK else _ANEW if own_making else _RENEW
    return Check(about=about, verdict=verdict, message=f"{file} {told}", cure=cure)


_ANEW = (
    "remove it, and keep the key beside it, which nodes know by its pin; `bc-fleetd certificate` then certifies that "
    "key anew; restart the daemon"
)
_RENEW = "renew it for the same key, which nodes know by its pin, and restart the daemon"


def _name_for_callers(settings: Settings, api: ApiSettings) -> str | None:
    """By which the API is reached, as far as the settings know."""
    if not is_any(api.listen_host):
        return api.listen_host
    return urlsplit(settings.agent.gateway_url).hostname if settings.agent else None


def judge_expiry(until: datetime, *, now: datetime) -> tuple[Verdict, str]:
    """What it comes to that a certificate expires then, and words for it that follow its name."""
    if until <= now:
        return Verdict.PROBLEM, f"expired on {until:%Y-%m-%d %H:%M} UTC: callers refuse it"
    if until - now < SOON:
        return Verdict.WARNING, f"expires on {until:%Y-%m-%d %H:%M} UTC: callers refuse it from then on"
    return Verdict.OK, f"is valid until {until:%Y-%m-%d}"


def is_any(host: str) -> bool:
    """Whether listening there is listening on every address."""
    try:
        return ip_address(host).is_unspecified
    except ValueError:
        return False
