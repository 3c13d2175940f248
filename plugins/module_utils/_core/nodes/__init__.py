# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Our side of a machine: how its bcd joins, is heard, is matched to its Node, and how it is retired.

"What happens when a Node vanishes?": matching.py decides (pure), retiring.py ends what was booked and retires, in one
transaction. Joining is joining.py, its token join_token.py, heartbeats heartbeat.py, the end of a pool cordon.py.
This room knows the store and the model; Kubernetes and the providers are the pass's business.
"""
