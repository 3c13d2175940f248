# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Why a control call to the machines is refused."""

from __future__ import annotations


class NoSuchMachine(LookupError):
    """No machine of that instance id was launched, or it has ended."""

    def __init__(self, instance_id: str) -> None:
        """Arguments: instance_id: what was asked for."""
        super().__init__(f"There is no machine {instance_id}.")
