# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who the account's credential is, in the form in which EKS's access entries name it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...model.errors import InvalidRequest, NotFound, PermissionDenied
from .calls import Calls

if TYPE_CHECKING:
    from .clients import Clients

_ASSUMED_ROLE = re.compile(r"arn:(?P<partition>[^:]+):sts::(?P<account>\d+):assumed-role/(?P<role>[^/]+)/.+")
_IAM_PRINCIPAL = re.compile(r"arn:[^:]+:iam::\d+:(user|role)/.+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Principal:
    """An IAM principal.

    Attributes:
        arn: what an access entry is made for.
        role: the role's name when the arn was made from an assumed role's: a role's path is not in that one.
    """

    arn: str
    role: str | None = None

    @property
    def partition(self) -> str:
        """`aws`, `aws-cn`, …"""
        return self.arn.split(":")[1]


def who_am_i(call: Calls, clients: Clients) -> Principal:
    """The principal of the account's credential, an assumed role as the role itself. One read, two for a role.

    An assumed role's ARN leaves out the role's path (`/aws-reserved/sso.amazonaws.com/…` of everyone who signs in
    through IAM Identity Center), and EKS refuses the role's ARN without it. So IAM is asked; where that is not
    allowed (iam:GetRole), the role is taken to have no path.

    Raises:
        InvalidRequest: EKS has no access entries for such a principal (a federated user, the root user).
    """
    principal = principal_of(call(clients.sts.get_caller_identity)["Arn"])
    if principal.role:
        try:
            return Principal(arn=call(clients.iam.get_role, RoleName=principal.role)["Role"]["Arn"])
        except (PermissionDenied, NotFound):
            return principal
    return principal


def principal_of(caller_arn: str) -> Principal:
    """The principal that a caller's ARN, as STS gives it, stands for.

    Raises:
        InvalidRequest: EKS has no access entries for such a principal.
    """
    assumed = _ASSUMED_ROLE.fullmatch(caller_arn)
    if assumed:
        arn = f"arn:{assumed['partition']}:iam::{assumed['account']}:role/{assumed['role']}"
        return Principal(arn=arn, role=assumed["role"])
    if _IAM_PRINCIPAL.fullmatch(caller_arn):
        return Principal(arn=caller_arn)
    raise InvalidRequest(f"EKS takes no access entry for {caller_arn}: use the credential of an IAM role or user")
