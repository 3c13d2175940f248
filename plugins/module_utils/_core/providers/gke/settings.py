# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a Google Cloud account's config says, as typed values. The document was validated before; this only reads it."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from ...model.errors import InvalidRequest

AMBIENT = "ambient"
"""The credential source that stands for Google's own chain (application default credentials)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GkeSettings:
    """One account's project and places.

    Attributes:
        zones: where clusters and node pools may stand; empty for wherever the project can.
        credential: `ambient`, `{"env": NAME}` or `{"file": PATH}`: where a service account's key is.
        endpoint_url: where GKE is reached; None for Google's own address. `http://` only on loopback.
        ca_file: the certificates that Google's are checked against; None for the library's own.
    """

    project: str
    zones: tuple[str, ...] = ()
    credential: str | Mapping[str, str] = AMBIENT
    endpoint_url: str | None = None
    ca_file: str | None = None

    @property
    def is_loopback(self) -> bool:
        """Whether GKE is reached on this machine itself, where no proxy can reach it."""
        host = urlsplit(self.endpoint_url).hostname if self.endpoint_url else None
        try:
            return host is not None and ipaddress.ip_address(host).is_loopback
        except ValueError:
            return host == "localhost"

    @classmethod
    def of(cls, config: Mapping[str, Any]) -> GkeSettings:
        """Read an account's config.

        Raises:
            InvalidRequest: it names no project. Documents refuse that; a record of another version may lack it.
        """
        if "projectId" not in config:
            raise InvalidRequest("the account's config has no projectId")
        return cls(
            project=config["projectId"],
            zones=tuple(config.get("zones") or ()),
            credential=config.get("credential") or AMBIENT,
            endpoint_url=config.get("endpointUrl"),
            ca_file=config.get("caFile"),
        )
