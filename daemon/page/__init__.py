# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The status page: what `bc-fleetd status` draws, for a browser. It reads the records and changes nothing.

rendering.py makes the document of status.html.j2, out of what daemon/fleet_now.py has read; daemon/api/application.py
answers.
"""

from __future__ import annotations

from .rendering import AGAIN_SECONDS, HEADERS, render

__all__ = ["AGAIN_SECONDS", "HEADERS", "render"]
