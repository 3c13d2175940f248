# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""EC2's subnets: the spec's example ones, and DescribeSubnets.

Not moto's EC2: importing that takes two to three seconds in every process, it draws subnet ids at random, and its
InvalidSubnetID.NotFound may name a subnet that exists.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from uuid import uuid4

from ..engine import Answer
from .account import ACCOUNT_ID
from .errors import AwsError
from .rendering import XML

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
)
"""The subnets of the spec's example."""

_FILTERS: Final[Mapping[str, Callable[[Subnet], str]]] = {
    "availability-zone": lambda subnet: subnet.zone,
    "subnet-id": lambda subnet: subnet.id,
    "vpc-id": lambda _subnet: VPC_ID,
}


def zones(subnet_ids: Sequence[str]) -> dict[str, str | None]:
    """The zone of each subnet; None for one that does not exist."""
    known = {subnet.id: subnet.zone for subnet in SUBNETS}
    return {subnet_id: known.get(subnet_id) for subnet_id in subnet_ids}


def describe_subnets(fields: Mapping[str, str]) -> Answer:
    """DescribeSubnets, by ids and by the filters above, all in one page.

    Arguments:
        fields: of the request, in EC2's query protocol: `SubnetId.1`, `Filter.1.Name`, `Filter.1.Value.1`, …

    Raises:
        AwsError: an id that does not exist, or a filter that is not emulated.
    """
    wanted = [value for name, value in fields.items() if re.fullmatch(r"SubnetId\.\d+", name)]
    unknown = [subnet_id for subnet_id, zone in zones(wanted).items() if zone is None]
    if unknown:
        text = f"The subnet ID '{unknown[0]}' does not exist"
        raise AwsError(400, "InvalidSubnetID.NotFound", text)
    shown = [subnet for subnet in SUBNETS if not wanted or subnet.id in wanted]
    for key, name in fields.items():
        match = re.fullmatch(r"Filter\.(\d+)\.Name", key)
        if match is None:
            continue
        if name not in _FILTERS:
            raise AwsError(400, "InvalidParameterValue", f"The filter '{name}' is invalid")
        prefix = f"Filter.{match[1]}.Value."
        values = {value for other, value in fields.items() if other.startswith(prefix)}
        shown = [subnet for subnet in shown if _FILTERS[name](subnet) in values]
    items = "".join(_item(subnet) for subnet in shown)
    body = (
        '<DescribeSubnetsResponse xmlns="http://ec2.amazonaws.com/doc/2016-11-15/">'
        f"<requestId>{uuid4()}</requestId><subnetSet>{items}</subnetSet></DescribeSubnetsResponse>"
    )
    return Answer(status=200, body=body.encode(), headers={"Content-Type": XML})


def _item(subnet: Subnet) -> str:
    arn = f"arn:aws:ec2:us-east-1:{ACCOUNT_ID}:subnet/{subnet.id}"
    return (
        f"<item><subnetId>{subnet.id}</subnetId><subnetArn>{arn}</subnetArn><state>available</state>"
        f"<vpcId>{VPC_ID}</vpcId><cidrBlock>{subnet.addresses}</cidrBlock>"
        f"<availableIpAddressCount>{_ADDRESSES}</availableIpAddressCount>"
        f"<availabilityZone>{subnet.zone}</availabilityZone><availabilityZoneId>{subnet.zone_id}</availabilityZoneId>"
        f"<ownerId>{ACCOUNT_ID}</ownerId><defaultForAz>false</defaultForAz></item>"
    )
