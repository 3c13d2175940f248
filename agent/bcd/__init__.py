# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""bcd, the agent on every node of a pool: it joins, sends heartbeats, and gives booked GPUs to pods.

It imports nothing of the collection or the daemon. Its HTTP is httpcore's, its gRPC grpcio's. Everything that waits
takes its clock from outside, and everything it knows of the machine comes through `Host`: one process on a
real node and thousands of emulated machines in one event loop run the same code.
"""

from __future__ import annotations

__version__ = "0.1.0"
