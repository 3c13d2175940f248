# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The certificate that the settings ask for: the operator's own, or one that the gateway makes and keeps."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit

from ansible_collections.better_compute.fleet.plugins.module_utils._core.documents.settings import Settings

from .errors import NoCertificate
from .web.certificate import Certificate, ensure_certificate, own_files, read_certificate


def gateway_certificate(settings: Settings) -> Certificate:
    """The gateway's certificate, made if the settings name none and there is none yet.

    Raises:
        NoCertificate: it cannot be read or made.
    """
    gateway = settings.gateway
    try:
        if gateway.certificate_file and gateway.key_file:
            return read_certificate(gateway.certificate_file, gateway.key_file)
        return ensure_certificate(gateway.state_dir, hosts=_hosts(settings))
    except OSError as error:
        raise NoCertificate(f"the gateway's certificate ({_key(settings)}): {_told(error)}") from error
    except ValueError as error:
        file, _key_file = certificate_files(settings)
        raise NoCertificate(f"the gateway's certificate ({_key(settings)}): {file} is none: {error}") from error


def certificate_files(settings: Settings) -> tuple[Path, Path]:
    """Where certificate and key are, or would be made."""
    gateway = settings.gateway
    if gateway.certificate_file and gateway.key_file:
        return gateway.certificate_file, gateway.key_file
    return own_files(gateway.state_dir)


def present_certificate(settings: Settings) -> Certificate | None:
    """The gateway's certificate as it is there; None where the settings name none and none was made yet.

    Raises:
        NoCertificate: it cannot be used.
        PermissionError: this user may not read it.
    """
    certificate_file, key_file = certificate_files(settings)
    if not settings.gateway.certificate_file and not certificate_file.exists():
        return None
    try:
        return read_certificate(certificate_file, key_file)
    except PermissionError:
        raise
    except OSError as error:
        raise NoCertificate(f"{_key(settings)}: {_told(error)}") from error
    except ValueError as error:
        raise NoCertificate(f"{_key(settings)}: {certificate_file} is no certificate: {error}") from error


def _key(settings: Settings) -> str:
    """The key of the settings that says where the certificate is."""
    return f"[gateway] {'certificate_file' if settings.gateway.certificate_file else 'state_dir'}"


def _told(error: OSError) -> str:
    return f"{error.filename}: {error.strerror}"


def is_pinned(settings: Settings, certificate: Certificate) -> bool:
    """Whether the clusters' bcds are told to trust this certificate's key. True where no bcd is told anything yet."""
    return settings.agent is None or certificate.pin in settings.agent.pins


def _hosts(settings: Settings) -> list[str]:
    """The names that a person's tools may know the gateway by; bcd looks at none of them."""
    outside = urlsplit(settings.agent.gateway_url).hostname if settings.agent else None
    api = settings.api.listen_host if settings.api else None
    return list(dict.fromkeys(host for host in (settings.gateway.listen_host, api, outside) if host))
