# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which certificate a server shows. Nothing is sent to it."""

from __future__ import annotations

import socket
import ssl
from dataclasses import dataclass
from datetime import datetime

from cryptography import x509

from ..web.certificate import pin_of

SECONDS = 5.0
"""For a server's name and its answer together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """What a server showed.

    Attributes:
        pin: of its key.
        until: when its certificate expires.
    """

    pin: str
    until: datetime


def ask(host: str, port: int) -> Shown | str:
    """What the server shows, or why it shows nothing."""
    # As bcd does: the key alone is looked at, by its pin.
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    try:
        with (
            socket.create_connection((host, port), timeout=SECONDS) as connection,
            context.wrap_socket(connection, server_hostname=host) as secured,
        ):
            shown = secured.getpeercert(binary_form=True)
        if not shown:
            return "it shows no certificate"
        certificate = x509.load_der_x509_certificate(shown)
        return Shown(pin=pin_of(certificate), until=certificate.not_valid_after_utc)
    except socket.gaierror as error:
        return f"its name cannot be resolved ({error.strerror})"
    except OSError as error:
        return error.strerror or type(error).__name__
    except ValueError:
        return "its certificate makes no sense"
