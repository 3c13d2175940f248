# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""EC2's door: the few reads that whoever runs node groups needs.

Not moto's EC2: importing that takes two to three seconds in every process, it draws subnet ids at random, and its
InvalidSubnetID.NotFound may name a subnet that exists.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final
from uuid import uuid4

from ..engine import Answer
from . import instance_types, network, query_protocol
from .errors import AwsError
from .rendering import XML, xml
from .signature import Request

_ACTIONS: Final[Mapping[str, Callable[[Mapping[str, str]], dict[str, Any]]]] = {
    "DescribeInstanceTypes": instance_types.describe,
    "DescribeSubnets": network.describe_subnets,
}


def answer(request: Request) -> Answer:
    """Carry a request out.

    Raises:
        AwsError: EC2 refuses it, or the emulator does not know it.
    """
    fields = query_protocol.fields(request)
    name = fields.get("Action", "")
    if name not in _ACTIONS:
        raise AwsError(501, "NotImplemented", f"The emulator has no ec2 {name}.")
    content = xml({"requestId": str(uuid4()), **_ACTIONS[name](fields)}, item="item", decapitalize=True)
    body = f'<{name}Response xmlns="http://ec2.amazonaws.com/doc/2016-11-15/">{content}</{name}Response>'
    return Answer(status=200, body=body.encode(), headers={"Content-Type": XML})
