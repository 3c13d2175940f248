# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Pure: document + records + what was observed -> Plan; Plan + the same records -> the rows to write.

``plan`` decides and ``desired.desired_rows`` spells the decision out, so that what is shown is what is applied. No I/O.

What only some callers of a plan need is imported from its own file: most plans are looked at and no more.
"""

from __future__ import annotations

from .plan import Plan
from .planner import plan
from .recorded import ObservedPool, Records
from .scope import Scope

__all__ = [
    "ObservedPool",
    "Plan",
    "Records",
    "Scope",
    "plan",
]
