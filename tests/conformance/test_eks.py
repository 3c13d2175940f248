# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The conformance cases on EKS."""

from __future__ import annotations

from pathlib import Path

import pytest

from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.eks import node_groups
from ansible_collections.better_compute.fleet.tests.conformance.subject import Case
from ansible_collections.better_compute.fleet.tests.support.eks_subject import eks_subject


def test_eks(conformance_case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # A cluster's quota is 30 node groups: no page of a hundred would ever be full.
    monkeypatch.setattr(node_groups, "NAMES_PER_PAGE", 5)
    with eks_subject(tmp_path) as subject:
        conformance_case(subject)
