# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""AWS on loopback: EKS as it behaves, what it needs of EC2 and Auto Scaling, and moto's IAM and STS."""

from __future__ import annotations

from ..neighbours import ClusterApis, Machine, MachineHost
from ..stand_ins import InstantMachines, UnreachableApis
from .account import Account, Credentials
from .eks import Capacity, Failures, Timings
from .emulator import AwsEmulator

__all__ = [
    "Account",
    "AwsEmulator",
    "Capacity",
    "ClusterApis",
    "Credentials",
    "Failures",
    "InstantMachines",
    "Machine",
    "MachineHost",
    "Timings",
    "UnreachableApis",
]
