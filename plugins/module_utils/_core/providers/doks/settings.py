# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a DigitalOcean account's config says, as typed values. The document was validated before; this only reads it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ...model.errors import InvalidRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class DoksSettings:
    """One account's place and switches.

    Attributes:
        credential: `{"env": NAME}` or `{"file": PATH}`: where the API token is.
        allow_spot, previews: both are needed for Spot node pools.
        endpoint_url: where the API is reached; None for DigitalOcean's own address.
        ca_file: the certificates that the API's is checked against; None for the public authorities.
    """

    region: str
    credential: Mapping[str, str]
    allow_spot: bool = False
    previews: bool = False
    endpoint_url: str | None = None
    ca_file: str | None = None

    @classmethod
    def of(cls, config: Mapping[str, Any]) -> DoksSettings:
        """Read an account's config.

        Raises:
            InvalidRequest: a field that every call needs is not there. Documents refuse that; a record of another
                version may still lack it.
        """
        try:
            return cls(
                region=config["region"],
                credential=config["credential"],
                allow_spot=bool(config.get("allowSpot")),
                previews=bool(config.get("previews")),
                endpoint_url=config.get("endpointUrl"),
                ca_file=config.get("caFile"),
            )
        except KeyError as missing:
            raise InvalidRequest(f"the account's config has no {missing.args[0]}") from None
