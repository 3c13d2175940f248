# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The gateway: what every node's bcd talks to, over HTTPS whose certificate bcd knows by its pin (wire/ is the schema).

messages.py checks what comes in, within what daemon/web allows; application.py answers, waiting.py keeps long polls;
server.py runs it all.
"""

from __future__ import annotations

from ..web.certificate import Certificate, ensure_certificate
from .server import GatewayServer

__all__ = ["Certificate", "GatewayServer", "ensure_certificate"]
