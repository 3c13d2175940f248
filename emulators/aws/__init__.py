# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""AWS on loopback: EKS as it behaves, on moto's EC2, IAM and STS."""

from __future__ import annotations

from .protocols import ApiEndpoint, ClusterApis, InstantMachines, Machine, MachineHost, UnreachableApis

__all__ = ["ApiEndpoint", "ClusterApis", "InstantMachines", "Machine", "MachineHost", "UnreachableApis"]
