# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Emulated DigitalOcean Kubernetes on loopback over TLS: clusters and node pools, as `pydo` asks for them."""

from __future__ import annotations

from .emulator import DigitalOcean
from .service import CLOUD, Timings

__all__ = ["CLOUD", "DigitalOcean", "Timings"]
