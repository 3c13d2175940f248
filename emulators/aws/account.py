# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The emulated AWS account: users, roles and keys in moto's IAM and STS, subnets and instance types in moto's EC2.

moto keeps its state for the whole process, so all emulators of a process share what is seeded here: seeding again finds
what is there. Nothing that a test could leak lives in moto.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from threading import Lock
from typing import Final

ACCOUNT_ID: Final = "111111111111"
"""The spec's example account."""

REGION: Final = "us-east-1"

CLUSTER_ROLE: Final = "eks-cluster"
NODE_ROLE: Final = "eks-node"
ROLES: Final = (CLUSTER_ROLE, NODE_ROLE, "fleet-daemon", "fleet-operator")
"""The spec's two roles, and two more that people and daemons may assume."""

OPERATOR: Final = "operator"
"""The user whose keys the world hands out."""

SUBNETS: Final = (
    ("subnet-0000000000000000a", "us-east-1a", "10.0.0.0/18"),
    ("subnet-0000000000000000b", "us-east-1b", "10.0.64.0/18"),
)
"""Id, zone and addresses of each: the subnets of the spec's example."""

_VPC_ADDRESSES: Final = "10.0.0.0/16"
_PARTITION: Final = "aws"


@dataclass(frozen=True, slots=True, kw_only=True)
class Credentials:
    """A key that requests are signed with.

    Attributes:
        session_token: belongs to the key of an assumed role, and is sent with each request.
        expires_at: when an assumed role's key stops working.
        caller_arn: whom GetCallerIdentity names: a user, or `…:assumed-role/<role>/<session>`.
        principal_arn: whom an access entry names: the user, or the role itself.
    """

    access_key_id: str
    secret_access_key: str = field(repr=False)
    session_token: str | None = field(default=None, repr=False)
    expires_at: datetime | None = None
    caller_arn: str
    principal_arn: str


@dataclass(frozen=True, slots=True, kw_only=True)
class InstanceType:
    """What an instance type has.

    Attributes:
        architectures: `x86_64`, `arm64`.
        gpus: how many GPUs.
        gpu_model: e.g. `H100`; empty without.
        nvidia: whether they are NVIDIA's.
    """

    name: str
    architectures: frozenset[str]
    gpus: int
    gpu_model: str
    nvidia: bool


def role_arn(name: str) -> str:
    """The ARN of a role of the account."""
    return f"arn:aws:iam::{ACCOUNT_ID}:role/{name}"


class Account:
    """The account. EC2's part is loaded when it is first asked for: importing it takes a second or two."""

    def __init__(self) -> None:
        """Seed IAM."""
        from moto.iam.models import iam_backends
        from moto.sts.models import sts_backends

        self._iam = iam_backends[ACCOUNT_ID][_PARTITION]
        self._sts = sts_backends[ACCOUNT_ID][_PARTITION]
        self._lock = Lock()
        self._vpc_id: str | None = None
        with self._lock:
            self._seed_roles()

    def user(self, name: str) -> Credentials:
        """The keys of a user, who is made on first mention."""
        with self._lock:
            if name not in self._iam.users:
                self._iam.create_user(REGION, name)
                self._iam.create_access_key(name)
            user = self._iam.users[name]
            key = user.access_keys[0]
        return Credentials(
            access_key_id=key.access_key_id,
            secret_access_key=key.secret_access_key,
            caller_arn=user.arn,
            principal_arn=user.arn,
        )

    def credentials(self, access_key_id: str) -> Credentials | None:
        """What belongs to an access key id, or None when nobody knows it."""
        assumed = self._sts.get_assumed_role_from_access_key(access_key_id)
        if assumed is not None:
            return Credentials(
                access_key_id=access_key_id,
                secret_access_key=assumed.secret_access_key,
                session_token=assumed.session_token,
                expires_at=assumed.expiration.replace(tzinfo=UTC),
                caller_arn=assumed.arn,
                principal_arn=assumed.role_arn,
            )
        key = self._iam.access_keys.get(access_key_id)
        if key is None or key.user_name is None:
            return None
        arn = self._iam.users[key.user_name].arn
        return Credentials(
            access_key_id=access_key_id,
            secret_access_key=key.secret_access_key,
            caller_arn=arn,
            principal_arn=arn,
        )

    def principal_exists(self, arn: str) -> bool:
        """Whether it is the ARN of a user or role of the account."""
        return arn in {user.arn for user in list(self._iam.users.values())} or self.role_exists(arn)

    def role_exists(self, arn: str) -> bool:
        """Whether it is the ARN of a role of the account."""
        return arn in {role.arn for role in self._iam.get_roles()}

    def subnet_zones(self, subnet_ids: Sequence[str]) -> dict[str, str | None]:
        """The zone of each subnet; None for one that does not exist."""
        from moto.ec2.models import ec2_backends

        self.seed_network()
        known = {subnet.id: subnet.availability_zone for subnet in ec2_backends[ACCOUNT_ID][REGION].describe_subnets()}
        return {subnet_id: known.get(subnet_id) for subnet_id in subnet_ids}

    def instance_type(self, name: str) -> InstanceType | None:
        """What an instance type has, or None when AWS has no such type."""
        from moto.ec2.models.instance_types import INSTANCE_TYPES

        known = INSTANCE_TYPES.get(name)
        if known is None:
            return None
        gpus = known.get("GpuInfo", {}).get("Gpus", [])
        return InstanceType(
            name=name,
            architectures=frozenset(known["ProcessorInfo"]["SupportedArchitectures"]),
            gpus=sum(gpu["Count"] for gpu in gpus),
            gpu_model=gpus[0]["Name"] if gpus else "",
            nvidia=bool(gpus) and gpus[0]["Manufacturer"].upper() == "NVIDIA",
        )

    @property
    def vpc_id(self) -> str:
        """The VPC that the subnets are in."""
        return self.seed_network()

    def seed_network(self) -> str:
        """Make the VPC and the subnets if they are not there yet; the VPC's id."""
        with self._lock:
            if self._vpc_id is None:
                self._vpc_id = _seed_network()
            return self._vpc_id

    def _seed_roles(self) -> None:
        trust = json.dumps({"Version": "2012-10-17", "Statement": []})
        present = {role.name for role in self._iam.get_roles()}
        for name in ROLES:
            if name not in present:
                self._iam.create_role(name, trust, "/", None, "", [], None)


def _seed_network() -> str:
    from moto.ec2.models import ec2_backends

    backend = ec2_backends[ACCOUNT_ID][REGION]
    wanted = {subnet_id for subnet_id, _zone, _addresses in SUBNETS}
    present = [subnet for subnet in backend.describe_subnets() if subnet.id in wanted]
    if present:
        return str(present[0].vpc_id)
    vpc = backend.create_vpc(_VPC_ADDRESSES)
    for subnet_id, zone, addresses in SUBNETS:
        subnet = backend.create_subnet(vpc.id, addresses, availability_zone=zone)
        # moto draws ids at random; the spec's example names these.
        del backend.subnets[zone][subnet.id]
        subnet.id = subnet_id
        backend.subnets[zone][subnet_id] = subnet
    return str(vpc.id)
