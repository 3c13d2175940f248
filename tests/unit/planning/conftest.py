# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The example's records."""

from __future__ import annotations

import pytest

from ansible_collections.better_compute.fleet.plugins.module_utils._core.planning import (
    Records,
)
from ansible_collections.better_compute.fleet.tests.support.fleet_records import converged
from ansible_collections.better_compute.fleet.tests.support.planned_fleet import recorded


@pytest.fixture
def records() -> Records:
    """The example's records, all converged."""
    return converged(recorded())
