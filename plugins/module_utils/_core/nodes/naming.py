# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which Kubernetes Node a bcd is looked for under."""

from __future__ import annotations


def expected_node_name(reported: str | None, hostname: str) -> str:
    """The Node name that bcd reports (`os.kubernetesNodeName`), else its hostname in lower case (spec, "Scale")."""
    return reported or hostname.lower()
