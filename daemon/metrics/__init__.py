# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the daemon tells Prometheus, in one registry of its own: docs/metrics.md lists it all.

Labels are bounded: pools, states, providers, calls and errors, and never a node, a message or an address.
"""

from __future__ import annotations

from .exposition import Metrics
from .of_gateway import GatewayMetrics

__all__ = ["GatewayMetrics", "Metrics"]
