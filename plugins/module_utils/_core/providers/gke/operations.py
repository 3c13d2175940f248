# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What became of an operation that GKE took. It is DONE also when it failed: only its error says so."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from ...model.errors import NotFound, ProviderError
from .addresses import Address
from .calls import Calls
from .errors import operation_error

if TYPE_CHECKING:
    from google.cloud.container_v1 import ClusterManagerClient

_UPGRADE = "UPGRADE_MASTER"
_LONG_AGO = datetime.min.replace(tzinfo=UTC)

_SIZE_MARK = ":"
"""What parts an operation's name, of which it is none, from the size that it brings."""


class Fate(StrEnum):
    """How an operation stands. A status that is new to us means: wait."""

    UNDER_WAY = "under_way"
    DONE = "done"
    GIVEN_UP = "given_up"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """An operation that the driver sent, as the record keeps it (NodePoolSpec.update_id).

    Attributes:
        per_zone: the size that it brings each zone to: GKE itself never tells. None for one that changes no size.
    """

    name: str
    per_zone: int | None = None

    @property
    def update_id(self) -> str:
        """As it is kept."""
        return self.name if self.per_zone is None else f"{self.name}{_SIZE_MARK}{self.per_zone}"

    @classmethod
    def of(cls, update_id: str) -> Sent:
        """As it was kept."""
        name, _mark, size = update_id.partition(_SIZE_MARK)
        return cls(name=name, per_zone=int(size) if size.isdecimal() else None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """An operation.

    Attributes:
        kind: `UPGRADE_MASTER`, …
        reason: why GKE gave it up, typed.
    """

    name: str
    kind: str
    fate: Fate
    began_at: datetime
    reason: ProviderError | None


def read(call: Calls, gke: ClusterManagerClient, where: Address, name: str) -> Operation | None:
    """An operation; None when GKE does not know it (any more). One read."""
    try:
        return observe(call(gke.get_operation, {"name": where.operation(name)}))
    except NotFound:
        return None


def last_upgrade(call: Calls, gke: ClusterManagerClient, where: Address) -> Operation | None:
    """The newest upgrade of the cluster's control plane that GKE still knows of. One read."""
    listed = call(gke.list_operations, {"parent": where.location}).operations
    upgrades = [
        observe(found)
        for found in listed
        if found.target_link.endswith(f"/clusters/{where.cluster.name}") and _name(found.operation_type) == _UPGRADE
    ]
    return max(upgrades, key=lambda found: found.began_at, default=None)


def observe(operation: Any) -> Operation:
    """GKE's description of an operation."""
    done = _name(operation.status) == "DONE"
    reason = operation_error(operation) if done else None
    return Operation(
        name=operation.name,
        kind=_name(operation.operation_type),
        fate=(Fate.GIVEN_UP if reason else Fate.DONE) if done else Fate.UNDER_WAY,
        began_at=_time(operation.start_time),
        reason=reason,
    )


def _name(value: Any) -> str:
    """An enum's word; one that is new to us comes as a number."""
    return str(getattr(value, "name", value))


def _time(text: str) -> datetime:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return _LONG_AGO
