# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Pure: document + records + what was observed -> Plan; Plan + the same records -> the rows to write.

``plan`` decides and ``desired_rows`` spells the decision out, so that what is shown is what is applied. No I/O.
"""

from __future__ import annotations

from .declared_again import declared_again, of_one_pool
from .desired import desired_rows
from .drift_report import PoolDrift, drift_report
from .plan import Plan
from .planner import plan
from .recorded import ObservedPool, Records
from .scope import Scope
from .writes import DesiredWrites

__all__ = [
    "DesiredWrites",
    "ObservedPool",
    "Plan",
    "PoolDrift",
    "Records",
    "Scope",
    "declared_again",
    "desired_rows",
    "drift_report",
    "of_one_pool",
    "plan",
]
