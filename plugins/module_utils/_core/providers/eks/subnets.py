# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The zones of the account's subnets. One read; the pass records the zones, so a converged pass does not ask."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...model.errors import InvalidRequest, NotFound
from .calls import Calls

if TYPE_CHECKING:
    from mypy_boto3_ec2 import EC2Client


def zones_of_subnets(call: Calls, ec2: EC2Client, subnet_ids: Sequence[str]) -> dict[str, str]:
    """The Availability Zone of each subnet, by subnet id, in the order asked for.

    Raises:
        InvalidRequest: a subnet does not exist, or has no zone; the text says which.
    """
    try:
        reply = call(ec2.describe_subnets, SubnetIds=list(subnet_ids))
    except NotFound as missing:
        raise InvalidRequest(f"eksSubnetIds: {missing}") from None
    found = {subnet["SubnetId"]: subnet["AvailabilityZone"] for subnet in reply["Subnets"]}
    absent = [subnet for subnet in subnet_ids if not found.get(subnet)]
    if absent:
        raise InvalidRequest(f"eksSubnetIds: EC2 does not know {', '.join(absent)}")
    return {subnet: found[subnet] for subnet in subnet_ids}
