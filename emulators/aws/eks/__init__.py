# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""EKS as it behaves (shared knowledge: the API's model, recorded traffic, public reports).

moto's EKS is not used: what it lacks or gets wrong is nearly all of it (statuses over time, endpoints, access entries,
updates, refusals), so each of its methods would have been replaced. Routes and constraints come from botocore's model.
"""

from __future__ import annotations

from .auto_scaling import AutoScalingGroups
from .capacity import Capacity
from .console import Console
from .failures import Failures
from .service import EksService
from .timings import Timings

__all__ = ["AutoScalingGroups", "Capacity", "Console", "EksService", "Failures", "Timings"]
