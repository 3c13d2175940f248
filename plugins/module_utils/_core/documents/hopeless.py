# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a document may say, and what yet no plan of it can be made with, whatever stands already.

For who looks at a document alone: a plan refuses the same (as QUOTA_EXCEEDED, UNSUPPORTED or INVALID_INPUT), and looks
at what stands already as well.
"""

from __future__ import annotations

from ..model.declared import FleetConfig
from ..model.errors import Problem
from ..model.provider_fit import names_too_long, too_many_flavors, unsupported


def hopeless(config: FleetConfig) -> tuple[Problem, ...]:
    """Everything that every plan refuses."""
    return (*unsupported(config), *names_too_long(config), *too_many_flavors(config))
