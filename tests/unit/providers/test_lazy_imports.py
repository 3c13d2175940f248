# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The providers' side without the SDKs."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import sys
for name in ("boto3", "botocore", "mypy_boto3_eks", "google", "grpc", "requests", "pydo"):
    sys.modules[name] = None
import ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.eks
import ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.gke
assert not [name for name in sys.modules if name.startswith(("boto3.", "botocore.", "google.", "grpc.", "pydo."))]
"""


def test_every_file_can_be_imported_where_no_sdk_is_installed() -> None:
    subprocess.run([sys.executable, "-c", PROGRAM], check=True)
