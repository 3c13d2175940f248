# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The conformance cases on GKE."""

from __future__ import annotations

from pathlib import Path

from ansible_collections.better_compute.fleet.tests.conformance.subject import Case
from ansible_collections.better_compute.fleet.tests.support.gke_subject import gke_subject


def test_gke(conformance_case: Case, tmp_path: Path) -> None:
    with gke_subject(tmp_path) as subject:
        conformance_case(subject)
