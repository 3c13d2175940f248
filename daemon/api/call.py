# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What one call of the API is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import Code
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.permissions import Permission
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.telemetry import telling
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.session import Session

from .bodies import Body
from .views import View

READ = Permission.KUBERNETES_READ
UPDATE = Permission.KUBERNETES_UPDATE


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One call: POST /api/compute/<resource>/<method>.

    Attributes:
        permission: what the caller's token must have.
        takes, gives: the models of request and answer.
        does: the operation, in a session of the caller's; may take seconds, and runs in a thread.
        codes: of refusals, beside those that every call knows.
        example: a request.
        slow: whether a provider or cluster is asked.
    """

    resource: str
    method: str
    summary: str
    permission: Permission
    takes: type[Body]
    gives: type[View]
    does: Callable[[Session, Any], View]
    codes: tuple[Code, ...]
    example: Mapping[str, Any] = field(default_factory=dict)
    slow: bool = False

    @property
    def path(self) -> str:
        """Where it is called."""
        return f"/api/compute/{self.resource}/{self.method}"

    def do(self, session: Session, body: Body) -> View:
        """The operation, with what it asks providers and clusters told to the session's telemetry.

        Raises:
            OperationError, StoreUnavailable: what the operation raises.
        """
        with telling(session.telemetry):
            return self.does(session, body)
