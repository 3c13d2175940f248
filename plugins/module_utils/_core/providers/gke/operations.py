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

SET_SIZE = "SET_NODE_POOL_SIZE"
_LONG_AGO = datetime.min.replace(tzinfo=UTC)


class Fate(StrEnum):
    """How an operation stands. A status that is new to us means: wait."""

    UNDER_WAY = "under_way"
    DONE = "done"
    GIVEN_UP = "given_up"


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """An operation.

    Attributes:
        kind: `UPGRADE_MASTER`, `SET_NODE_POOL_SIZE`, …
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
    """The newest upgrade of the cluster's control plane; None: there is none, or GKE cannot tell. One read."""
    return _newest(call, gke, where, f"/clusters/{where.cluster.name}", kind="UPGRADE_MASTER")


def last_of_node_pool(call: Calls, gke: ClusterManagerClient, where: Address, name: str) -> Operation | None:
    """The newest operation on a node pool, whoever began it; None: there is none, or GKE cannot tell. One read."""
    return _newest(call, gke, where, f"/clusters/{where.cluster.name}/nodePools/{name}")


def _newest(
    call: Calls, gke: ClusterManagerClient, where: Address, target: str, *, kind: str | None = None
) -> Operation | None:
    listed = call(gke.list_operations, {"parent": where.location})
    if listed.missing_zones:
        return None  # a newer one may be among those that GKE does not see at present
    found = [observe(operation) for operation in listed.operations if operation.target_link.endswith(target)]
    return max((one for one in found if kind in (None, one.kind)), key=lambda one: one.began_at, default=None)


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
