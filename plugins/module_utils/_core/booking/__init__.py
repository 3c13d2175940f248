# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reservations: a tenant's GPUs on a pool's nodes.

placement.py chooses devices and waiting.py says why there are none (both pure), reserve.py charges, binds and gives
back, standing.py tells a node what is booked on it. This room knows the store and the model; what happens to bookings
on a machine that is gone is nodes/retiring.py.
"""

from __future__ import annotations

BINDING = "kubernetes"
"""How these reservations reach a workload: bcd's device plugin hands their devices to the kubelet (spec, "Book")."""
