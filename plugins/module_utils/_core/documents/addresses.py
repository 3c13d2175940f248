# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Addresses and paths that documents and settings name. What is refused is not repeated: it may hold a secret."""

from __future__ import annotations

from urllib.parse import urlsplit

_LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})


def web_address(value: str) -> str:
    """Take an https URL, or an http one on this machine, without user, query or fragment. Errors do not repeat it."""
    expected = "expected an https URL without user, query and fragment (http only on 127.0.0.1)"
    try:
        parts = urlsplit(value)
        host, _port = parts.hostname, parts.port
    except ValueError:
        raise ValueError(expected) from None
    plain = host is not None and "@" not in parts.netloc and not parts.query and not parts.fragment
    trusted = parts.scheme == "https" or (parts.scheme == "http" and host in _LOOPBACK)
    if not (plain and trusted and value.isascii() and value.isprintable() and " " not in value):
        raise ValueError(expected)
    return value


def absolute_path(value: str) -> str:
    """Take an absolute path."""
    if not value.startswith("/") or not value.isprintable():
        raise ValueError("expected an absolute path")
    return value
