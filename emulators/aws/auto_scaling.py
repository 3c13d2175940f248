# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Auto Scaling's door: the groups behind EKS's node groups, read and changed past EKS."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final
from uuid import uuid4

from ..engine import Answer
from . import query_protocol
from .eks import AutoScalingGroups
from .errors import AwsError
from .rendering import XML, xml
from .signature import Request

SERVICE: Final = "autoscaling"


def answer(request: Request, groups: AutoScalingGroups) -> Answer:
    """Carry a request out.

    Raises:
        AwsError: Auto Scaling refuses it, or the emulator does not know it.
    """
    fields = query_protocol.fields(request)
    name = fields.get("Action", "")
    result: dict[str, Any]
    match name:
        case "DescribeAutoScalingGroups":
            wanted = query_protocol.listed(fields, "AutoScalingGroupNames.member")
            result = {"AutoScalingGroups": groups.describe(wanted)}
        case "SetDesiredCapacity":
            desired = _required(fields, "DesiredCapacity")
            if not (desired.isascii() and desired.isdigit()):
                raise AwsError(400, "ValidationError", "DesiredCapacity must be a number of at least 0")
            groups.set_desired(_required(fields, "AutoScalingGroupName"), int(desired))
            result = {}
        case "TerminateInstanceInAutoScalingGroup":
            decrement = _required(fields, "ShouldDecrementDesiredCapacity") == "true"
            result = {"Activity": groups.terminate(_required(fields, "InstanceId"), decrement=decrement)}
        case _:
            raise AwsError(501, "NotImplementedException", f"The emulator has no {SERVICE} {name}.")
    content = xml({f"{name}Result": result, "ResponseMetadata": {"RequestId": str(uuid4())}}, item="member")
    body = f'<{name}Response xmlns="http://autoscaling.amazonaws.com/doc/2011-01-01/">{content}</{name}Response>'
    return Answer(status=200, body=body.encode(), headers={"Content-Type": XML})


def _required(fields: Mapping[str, str], name: str) -> str:
    if name not in fields:
        raise AwsError(400, "ValidationError", f"Value null at '{name}' failed to satisfy constraint: not null")
    return fields[name]
