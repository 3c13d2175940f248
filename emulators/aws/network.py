# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""EC2's subnets: the spec's example ones and a few that make trouble, and DescribeSubnets."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from . import query_protocol
from .account import ACCOUNT_ID
from .errors import AwsError

VPC_ID: Final = "vpc-0000000000000000f"

_ADDRESSES: Final = 16379
"""Free ones in a /18: all but the five that AWS keeps."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Subnet:
    """A subnet of the one VPC."""

    id: str
    zone: str
    zone_id: str
    addresses: str


SUBNETS: Final = (
    Subnet(id="subnet-0000000000000000a", zone="us-east-1a", zone_id="use1-az1", addresses="10.0.0.0/18"),
    Subnet(id="subnet-0000000000000000b", zone="us-east-1b", zone_id="use1-az2", addresses="10.0.64.0/18"),
    Subnet(id="subnet-0000000000000000c", zone="us-east-1c", zone_id="use1-az4", addresses="10.0.128.0/18"),
    Subnet(id="subnet-0000000000000000d", zone="us-east-1a", zone_id="use1-az1", addresses="10.1.0.0/18"),
    Subnet(id="subnet-0000000000000000e", zone="us-east-1e", zone_id="use1-az3", addresses="10.0.192.0/18"),
)
"""The subnets of the spec's example (…a and …b), one in a third zone, a second one in the first zone, and one in a zone
that has no room for control planes."""

WITHOUT_CONTROL_PLANES: Final = frozenset({"us-east-1e"})
"""Zones in which EKS makes none; this one is the real region's (EKS user guide, "Insufficient capacity")."""

_FILTERS: Final[Mapping[str, Callable[[Subnet], str]]] = {
    "availability-zone": lambda subnet: subnet.zone,
    "subnet-id": lambda subnet: subnet.id,
    "vpc-id": lambda _subnet: VPC_ID,
}


def zones(subnet_ids: Sequence[str]) -> dict[str, str | None]:
    """The zone of each subnet; None for one that does not exist."""
    known = {subnet.id: subnet.zone for subnet in SUBNETS}
    return {subnet_id: known.get(subnet_id) for subnet_id in subnet_ids}


def describe_subnets(fields: Mapping[str, str]) -> dict[str, Any]:
    """DescribeSubnets, by ids and by the filters above, all in one page.

    Raises:
        AwsError: an id that does not exist, or a filter that is not emulated.
    """
    wanted = query_protocol.listed(fields, "SubnetId")
    unknown = [subnet_id for subnet_id, zone in zones(wanted).items() if zone is None]
    if unknown:
        text = f"The subnet ID '{unknown[0]}' does not exist"
        raise AwsError(400, "InvalidSubnetID.NotFound", text)
    shown = [subnet for subnet in SUBNETS if not wanted or subnet.id in wanted]
    for name, values in query_protocol.filters(fields).items():
        if name not in _FILTERS:
            raise AwsError(400, "InvalidParameterValue", f"The filter '{name}' is invalid")
        shown = [subnet for subnet in shown if _FILTERS[name](subnet) in values]
    return {"subnetSet": [_described(subnet) for subnet in shown]}


def _described(subnet: Subnet) -> dict[str, Any]:
    return {
        "subnetId": subnet.id,
        "subnetArn": f"arn:aws:ec2:us-east-1:{ACCOUNT_ID}:subnet/{subnet.id}",
        "state": "available",
        "vpcId": VPC_ID,
        "cidrBlock": subnet.addresses,
        "availableIpAddressCount": _ADDRESSES,
        "availabilityZone": subnet.zone,
        "availabilityZoneId": subnet.zone_id,
        "ownerId": ACCOUNT_ID,
        "defaultForAz": False,
    }
