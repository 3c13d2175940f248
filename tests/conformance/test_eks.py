# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The conformance cases on EKS."""

from __future__ import annotations

from pathlib import Path

import pytest

from ansible_collections.better_compute.fleet.tests.conformance.cases import CASES
from ansible_collections.better_compute.fleet.tests.conformance.subject import Case
from ansible_collections.better_compute.fleet.tests.support.eks_subject import eks_subject


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_eks(case: Case, tmp_path: Path) -> None:
    with eks_subject(tmp_path) as subject:
        case(subject)
