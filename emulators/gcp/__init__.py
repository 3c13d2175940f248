# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Google Cloud on loopback: GKE as it behaves, over gRPC, with the types of the package google-cloud-container."""

from __future__ import annotations

from .capacity import QUOTA, STOCKOUT, Capacity
from .emulator import GcpEmulator
from .timings import Timings

__all__ = ["QUOTA", "STOCKOUT", "Capacity", "GcpEmulator", "Timings"]
