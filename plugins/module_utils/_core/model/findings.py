# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the self-check finds, under the names that the spec gives it: messages, documentation and checks share them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class FindingCode(StrEnum):
    """Names of findings (spec)."""

    AGENT_MISSING = "kubernetes.substrate-agent-missing"
    NODES_NOT_JOINING = "kubernetes.substrate-nodes-not-joining"


AGENT_MISSING = (
    f"{FindingCode.AGENT_MISSING}: the settings do not say how bcd is run, so nothing is created: "
    "give image, gateway_url and pins in their [agent] section"
)
"""The message of a substrate that cannot be had for want of settings."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Something that a person should look at.

    Attributes:
        pools: the names of the pools that it is about.
        message: what is wrong and what to do, beginning with the code.
    """

    code: FindingCode
    pools: tuple[str, ...]
    message: str

    def to_data(self) -> dict[str, Any]:
        """Plain values, for module results."""
        return {"code": str(self.code), "pools": list(self.pools), "message": self.message}
