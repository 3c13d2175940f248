# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The emulated AWS account: users, roles and their keys, in moto's IAM and STS.

moto keeps its state for the whole process, so all emulators of a process share what is seeded here: seeding again finds
what is there. Nothing that a test could leak lives in moto.
"""

from __future__ import annotations

import json
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


class Account:
    """The account. Thread-safe."""

    def __init__(self) -> None:
        """Seed IAM."""
        from moto.iam.models import iam_backends
        from moto.sts.models import sts_backends

        self._iam = iam_backends[ACCOUNT_ID][_PARTITION]
        self._sts = sts_backends[ACCOUNT_ID][_PARTITION]
        self._lock = Lock()
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

    def _seed_roles(self) -> None:
        trust = json.dumps({"Version": "2012-10-17", "Statement": []})
        present = {role.name for role in self._iam.get_roles()}
        for name in ROLES:
            if name not in present:
                self._iam.create_role(name, trust, "/", None, "", [], None)
