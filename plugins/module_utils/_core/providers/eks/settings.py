# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What an AWS account's config says, as typed values. The document was validated before; this only reads it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ...model.errors import InvalidRequest

AMBIENT = "ambient"
"""The credential source that stands for boto3's own chain."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EksSettings:
    """One account's place, roles and networks.

    Attributes:
        subnet_ids: the subnets of control planes and nodes.
        credential: `ambient`, `{"env": PREFIX}` or `{"file": PATH}`: where the credential is.
        endpoint_url: where all of AWS's services are reached; None for AWS's own addresses.
        ca_file: the certificates that the services' are checked against; None for boto3's own choice.
    """

    region: str
    cluster_role_arn: str
    node_role_arn: str
    subnet_ids: tuple[str, ...]
    credential: str | Mapping[str, str] = AMBIENT
    endpoint_url: str | None = None
    ca_file: str | None = None

    @classmethod
    def of(cls, config: Mapping[str, Any]) -> EksSettings:
        """Read an account's config.

        Raises:
            InvalidRequest: a field that every call needs is not there. Documents refuse that; a record of another
                version may still lack it.
        """
        try:
            return cls(
                region=config["region"],
                cluster_role_arn=config["eksClusterRoleArn"],
                node_role_arn=config["eksNodeRoleArn"],
                subnet_ids=tuple(config["eksSubnetIds"]),
                credential=config.get("credential") or AMBIENT,
                endpoint_url=config.get("endpointUrl"),
                ca_file=config.get("caFile"),
            )
        except KeyError as missing:
            raise InvalidRequest(f"the account's config has no {missing.args[0]}") from None
