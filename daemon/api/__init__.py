# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The HTTP API: the spec's calls under /api/compute/…, their OpenAPI document, metrics, and a sign of life.

bodies.py reads what callers send; node_pools.py, clusters.py and substrates.py have the calls, each with what it takes
and gives; calls.py lists them; application.py lets callers in and answers; openapi.py describes it all from the same
models; server.py runs it. What is done is operations/'s: nothing here decides, and no pass runs in a request.
"""

from __future__ import annotations

from .server import ApiServer, api_of

__all__ = ["ApiServer", "api_of"]
