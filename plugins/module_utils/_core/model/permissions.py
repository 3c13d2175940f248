# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a caller of the HTTP API may do, and the token that says so.

A token is bound to one tenant and to the permissions that were granted with it, each by its name: none follows from
another.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from .errors import Code, OperationError
from .ids import ApiTokenId, TenantId


class Permission(StrEnum):
    """What can be granted."""

    KUBERNETES_READ = "compute:kubernetes:read"
    KUBERNETES_UPDATE = "compute:kubernetes:update"
    METRICS_READ = "compute:metrics:read"
    STATUS_READ = "compute:status:read"


OF_ALL_TENANTS = frozenset({Permission.METRICS_READ, Permission.STATUS_READ})
"""Of the platform's tokens only: they tell of every tenant's pools."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Who asks, as the token that came with the call says.

    Attributes:
        name: the token's name, which one that takes its place keeps.
    """

    token_id: ApiTokenId
    name: str
    tenant_id: TenantId
    permissions: frozenset[Permission]

    def require(self, permission: Permission, *, tenant_id: TenantId) -> None:
        """Make sure that the caller may do this.

        Arguments:
            tenant_id: the owner of what it is done to.

        Raises:
            OperationError: FORBIDDEN. The text says nothing of the owner.
        """
        if permission not in self.permissions:
            raise OperationError(Code.FORBIDDEN, f"the API token {self.name!r} has no permission {permission}")
        if tenant_id != self.tenant_id:
            raise OperationError(
                Code.FORBIDDEN,
                f"the API token {self.name!r} acts on what tenant {self.tenant_id} owns, and not on this",
            )


class TokenState(StrEnum):
    """Whether a token opens anything."""

    LIVE = "live"
    EXPIRED = "expired"
    REVOKED = "revoked"


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiToken:
    """The record of an API token. The token itself is its holder's only.

    Attributes:
        name: unique among the tenant's tokens that are not revoked.
        token_hash: SHA-256 of the token.
        issued_by: the operator who issued it.
    """

    id: ApiTokenId
    tenant_id: TenantId
    name: str
    permissions: frozenset[Permission]
    token_hash: str = field(repr=False)
    issued_by: str
    created_at: datetime
    expires_at: datetime
    revoked_at: datetime | None = None

    def state(self, now: datetime) -> TokenState:
        """Whether it opens anything. One that was revoked after its end, to free its name, has expired."""
        if self.revoked_at is not None and self.revoked_at < self.expires_at:
            return TokenState.REVOKED
        return TokenState.EXPIRED if self.expires_at <= now else TokenState.LIVE
