# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What keeps the daemon from starting or running on, beside its settings and its database."""

from __future__ import annotations

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import FleetError


class CannotListen(FleetError):
    """The gateway's address cannot be listened on."""


class NoCertificate(FleetError):
    """The gateway's key and certificate cannot be read or made."""


class NotAsAsked(FleetError):
    """A command's arguments ask for what cannot be: whoever wrote them has to set them right."""


class GatewayEnded(FleetError):
    """The gateway stopped by itself."""


class PassesHang(FleetError):
    """So many passes hang that only a new process helps."""
