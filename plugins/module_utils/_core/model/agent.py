# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a substrate needs to know to run bcd on a cluster: the agent's settings, given once for the deployment."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentSettings:
    """How bcd is run and whom it talks to.

    Attributes:
        image: bcd's container image.
        gateway_url: where bcd joins and sends heartbeats, https.
        pins: SHA-256 of the gateway certificate's SubjectPublicKeyInfo, base64, one or more (two while a key
            is replaced).
        control_plane_url: the platform's API that bcd passes on to workloads; None when there is none.
        runtime_class: the GPU runtime class of bcd's pods; None for the cluster's default runtime.
        resource_name: the extended resource that the device plugin advertises.
    """

    image: str
    gateway_url: str
    pins: tuple[str, ...]
    control_plane_url: str | None = None
    runtime_class: str | None = None
    resource_name: str = "bc.dev/gpu"
