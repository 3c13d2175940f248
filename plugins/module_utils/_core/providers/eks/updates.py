# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What became of an update that EKS took. A failed one leaves everything as it was: only the update says so."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, cast

from ...model.errors import NotFound, ProviderError
from .calls import Calls
from .health import failure

if TYPE_CHECKING:
    from mypy_boto3_eks import EKSClient
    from mypy_boto3_eks.type_defs import IssueTypeDef, UpdateTypeDef

MOST_LOOKED_AT = 25
"""Updates of a cluster that are read to find the newest: the list is in no order and has nothing but ids."""


class Fate(StrEnum):
    """How an update stands. A status that is new to us means: wait."""

    UNDER_WAY = "under_way"
    DONE = "done"
    GIVEN_UP = "given_up"


_FATE = {"Successful": Fate.DONE, "Failed": Fate.GIVEN_UP, "Cancelled": Fate.GIVEN_UP}


@dataclass(frozen=True, slots=True, kw_only=True)
class Update:
    """An update.

    Attributes:
        kind: `VersionUpdate`, `ConfigUpdate`, …
        version: the Kubernetes version that it leads to, None when it is about something else.
        reason: why EKS gave it up, typed.
    """

    id: str
    kind: str
    fate: Fate
    began_at: datetime
    version: str | None
    reason: ProviderError | None


def of_node_group(call: Calls, eks: EKSClient, *, cluster: str, name: str, update_id: str) -> Update | None:
    """An update of a node group; None when EKS does not know it (any more). One read."""
    try:
        reply = call(eks.describe_update, name=cluster, nodegroupName=name, updateId=update_id)
    except NotFound:
        return None
    return read(reply["update"])


def of_cluster(call: Calls, eks: EKSClient, cluster: str) -> list[Update]:
    """Updates of a cluster, the newest first: all, unless there are more than we read."""
    ids = call(eks.list_updates, name=cluster)["updateIds"][:MOST_LOOKED_AT]
    found = [read(call(eks.describe_update, name=cluster, updateId=update_id)["update"]) for update_id in ids]
    return sorted(found, key=lambda update: update.began_at, reverse=True)


def read(update: UpdateTypeDef) -> Update:
    """EKS's description of an update."""
    fate = _FATE.get(update["status"], Fate.UNDER_WAY)
    params = {param.get("type", ""): param.get("value", "") for param in update.get("params", [])}
    return Update(
        id=update["id"],
        kind=update["type"],
        fate=fate,
        began_at=update["createdAt"],
        version=params.get("Version"),
        reason=_reason(update) if fate is Fate.GIVEN_UP else None,
    )


def _reason(update: UpdateTypeDef) -> ProviderError:
    issues = [
        {
            "code": error.get("errorCode", "Unknown"),
            "message": error.get("errorMessage", "no message"),
            "resourceIds": error.get("resourceIds", []),
        }
        for error in update.get("errors", [])
    ]
    why = failure(cast("list[IssueTypeDef]", issues))
    return type(why)(f"EKS gave up the update {update['id']} ({update['status']}): {why}")
