# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a request comes from, as far as limits are concerned: the address at the other end of the connection.

A header that names another one (`X-Forwarded-For`) is not believed, because anybody can send it. Behind a proxy that
ends TLS everybody would have one address; bcd's pins do not let it go through one.
"""

from __future__ import annotations

import ipaddress

_ONE_HOLDER = 64
"""Bits of an IPv6 address that tell holders apart: whoever has one address has all that share them (RFC 6177)."""


def source(address: str) -> str:
    """The address, or the network that it stands for: of IPv6 the /64; of IPv4 in IPv6's dress the IPv4 one."""
    if ":" not in address:
        return address
    try:
        parsed = ipaddress.IPv6Address(address.partition("%")[0])
    except ValueError:
        return address
    if parsed.ipv4_mapped is not None:
        return str(parsed.ipv4_mapped)
    return str(ipaddress.IPv6Network((int(parsed), _ONE_HOLDER), strict=False))
