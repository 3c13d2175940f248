# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The DOKS driver on an emulated DigitalOcean of each test's own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ansible_collections.better_compute.fleet.tests.support.doks_subject import DoksSubject, doks_subject


@pytest.fixture
def ocean(tmp_path: Path) -> Iterator[DoksSubject]:
    with doks_subject(tmp_path) as fresh:
        yield fresh
