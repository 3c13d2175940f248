# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The drivers, each on an emulated provider of each test's own, and EKS without the driver in between."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.eks.driver import EksDriver
from ansible_collections.better_compute.fleet.tests.support.eks_subject import EksSubject, eks_subject
from ansible_collections.better_compute.fleet.tests.support.gke_subject import GkeSubject, gke_subject

if TYPE_CHECKING:
    from mypy_boto3_eks import EKSClient


@pytest.fixture
def subject(tmp_path: Path) -> Iterator[EksSubject]:
    with eks_subject(tmp_path) as fresh:
        yield fresh


@pytest.fixture
def driver(subject: EksSubject) -> EksDriver:
    return subject.open()


@pytest.fixture
def eks(subject: EksSubject) -> EKSClient:
    """EKS without the driver in between."""
    return subject.clients.eks


@pytest.fixture
def google(tmp_path: Path) -> Iterator[GkeSubject]:
    with gke_subject(tmp_path) as fresh:
        yield fresh
