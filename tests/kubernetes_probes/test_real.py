# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The real API still answers every probe as it did when the answers were kept."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ansible_collections.better_compute.fleet.tests.support.controlplane.cluster import RealCluster
from ansible_collections.better_compute.fleet.tests.support.controlplane.server import ControlPlane

from .answers import answers
from .probes import PROBES
from .real import real_subject
from .subject import ApiSubject

pytestmark = pytest.mark.controlplane


@pytest.fixture
def subject(real_control_plane: ControlPlane, real_cluster_api: RealCluster) -> Iterator[ApiSubject]:
    with real_subject(real_control_plane, real_cluster_api) as made:
        yield made


@pytest.mark.parametrize("name", PROBES)
def test_the_real_api_answers_as_it_did(subject: ApiSubject, name: str) -> None:
    assert PROBES[name](subject) == answers()[name]
