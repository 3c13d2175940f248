# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The providers' side without the SDKs, and one provider's without those of the others."""

from __future__ import annotations

import subprocess
import sys

import pytest

PROGRAM = """
import sys
for name in ("boto3", "botocore", "mypy_boto3_eks", "google", "grpc", "requests", "pydo"):
    sys.modules[name] = None
import ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.eks
import ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.gke
assert not [name for name in sys.modules if name.startswith(("boto3.", "botocore.", "google.", "grpc.", "pydo."))]
"""

DOKS_WITHOUT_PYDO = """
import sys
for name in ("pydo", "azure"):
    sys.modules[name] = None
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers import doks
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.doks import driver
"""

DOKS = """
import sys
for name in ("boto3", "botocore", "google.cloud.container", "google.cloud.container_v1", "grpc"):
    sys.modules[name] = None
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import Unavailable
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.contract import ClusterSpec
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.doks.api import open_api
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.doks.driver import DoksDriver
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.doks.settings import DoksSettings

class NoTime:
    def now(self): raise AssertionError

settings = DoksSettings(region="nyc2", credential={"env": "FLEET_TOKEN"}, endpoint_url="https://127.0.0.1:1")
driver = DoksDriver(settings=settings, api=open_api(settings), clock=NoTime())
try:
    driver.get_cluster(ClusterSpec(name="bc-x", location="nyc2", private_nodes=False, tags={"a": "b"}))
except Unavailable:
    pass
else:
    raise AssertionError("somebody answered at port 1")
assert "pydo" in sys.modules
others = ("boto3.", "botocore.", "google.cloud.container", "grpc.")
assert not [name for name in sys.modules if name.startswith(others) and sys.modules[name]]
"""


def test_every_file_can_be_imported_where_no_sdk_is_installed() -> None:
    subprocess.run([sys.executable, "-c", PROGRAM], check=True)


def test_every_file_of_the_doks_driver_can_be_imported_where_pydo_is_not_installed() -> None:
    subprocess.run([sys.executable, "-c", DOKS_WITHOUT_PYDO], check=True)


def test_the_doks_driver_works_without_the_sdks_of_the_other_providers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLEET_TOKEN", "dop_v1_x")
    subprocess.run([sys.executable, "-c", DOKS], check=True)
