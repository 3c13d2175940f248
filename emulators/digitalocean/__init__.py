# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Emulated DigitalOcean Kubernetes on loopback over TLS, as `pydo` asks for it.

clusters and node_pools carry requests out; nodes makes, labels and ends what is in node pools; readings says what
nobody knows for certain about DigitalOcean; console does what others do.
"""

from __future__ import annotations

from .capacity import Capacity
from .console import Console
from .emulator import DigitalOcean
from .readings import Readings
from .refusals import Refusal
from .state import CLOUD
from .timings import Timings
from .tokens import SCOPES

__all__ = ["CLOUD", "SCOPES", "Capacity", "Console", "DigitalOcean", "Readings", "Refusal", "Timings"]
