# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""`bc-fleetd plan`: what bc_fleet would do with a document, for a review or a pipeline. It writes nothing."""

from __future__ import annotations

import json
from typing import TextIO

from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.fleet import PlannedFleet


def print_text(planned: PlannedFleet, *, to: TextIO) -> None:
    """The plan as bc_fleet's `plan.text` tells it, and then whom it could not ask."""
    told = set(planned.plan.warnings)
    unasked = [f"Warning: {warning}\n" for warning in planned.warnings if warning not in told]
    # A document's and a provider's words may be more than the terminal's encoding holds.
    encoding = to.encoding or "utf-8"
    text = "".join([planned.plan.render(), *unasked])
    to.write(text.encode(encoding, "backslashreplace").decode(encoding))


def print_json(planned: PlannedFleet, *, to: TextIO) -> None:
    """The plan as bc_fleet's `plan` tells it, without the text."""
    json.dump({**planned.plan.to_data(), "warnings": list(planned.warnings)}, to, indent=2)
    to.write("\n")
