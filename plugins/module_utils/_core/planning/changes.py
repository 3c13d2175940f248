# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One planned change: what happens to which resource, with its fields and both their values."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from ..model.declared import Autoscaling
from ..model.ids import PLATFORM_TENANT, TenantId
from .naming import Key, titled


class ChangeKind(StrEnum):
    """What apply does with a resource.

    `adopt`, `give_back`: of a cluster that is somebody else's: it is read, and nothing of it is created or deleted.
    `keep`: nothing, although the document no longer declares it: deleting needs prune, or something to be gone first.
    `blocked`: nothing, and nothing else of the plan either: the note says what to do instead.
    """

    CREATE = "create"
    UPDATE = "update"
    DELETE = "delete"
    ADOPT = "adopt"
    GIVE_BACK = "give_back"
    KEEP = "keep"
    BLOCKED = "blocked"


COMING = frozenset({ChangeKind.CREATE, ChangeKind.ADOPT})
"""The kinds after which something is there that was not: there is nothing before them."""

GOING = frozenset({ChangeKind.DELETE, ChangeKind.GIVE_BACK})
"""The kinds after which something is gone: there is nothing after them."""

EFFECTIVE = frozenset({ChangeKind.UPDATE}) | COMING | GOING
"""The kinds that change something."""


class Resource(StrEnum):
    """What a change is about."""

    SITE = "site"
    ACCOUNT = "account"
    POOL = "pool"
    CLUSTER = "cluster"
    NODE_POOL = "node_pool"
    QUOTA = "quota"


DRIFT = "drift"
"""The note of a field whose recorded value is as declared, and whose value at the provider is not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldChange:
    """One field of a resource.

    Attributes:
        path: below the resource, as the document spells it, e.g. `nodes` of a flavor.
        before, after: plain JSON values; None for not set.
        note: `identity`, `fixed` or `lowered` (it cannot change so), `drift`, or empty.
    """

    path: str
    before: Any
    after: Any
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One resource of the plan.

    Attributes:
        name: a site's, account's or pool's name.
        tenant: the owner of that.
        part: a flavor's name (node pools) or a tenant's (quotas) within the pool `name`; else empty.
        fields: what differs; of a new or deleted resource everything it has.
        note: why it is kept or blocked and what to do, or what is worth knowing; may be empty.
    """

    kind: ChangeKind
    resource: Resource
    name: str
    tenant: TenantId = PLATFORM_TENANT
    part: str = ""
    fields: tuple[FieldChange, ...] = ()
    note: str = ""

    @property
    def key(self) -> Key:
        """What the site, account or pool is known by."""
        return self.tenant, self.name

    @property
    def title(self) -> str:
        """`gpu-fleet`, `gpu-fleet/h100`; another owner's `acme:gpu-fleet`."""
        return f"{titled(self.key)}/{self.part}" if self.part else titled(self.key)

    @property
    def drifted(self) -> bool:
        """Whether it puts back what was changed or taken away at the provider."""
        return any(field.note == DRIFT for field in self.fields)

    def to_data(self) -> dict[str, Any]:
        """The change as plain values."""
        return {
            "kind": str(self.kind),
            "resource": str(self.resource),
            "name": self.title,
            "fields": [
                {"path": field.path, "before": field.before, "after": field.after, "note": field.note}
                for field in self.fields
            ],
            "note": self.note,
            "drift": self.drifted,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class FlavorSize:
    """How large a declared flavor is.

    Attributes:
        nodes: as declared: per zone where the provider counts so.
        zones: how many zones it spans; None where the provider counts no zones, or they are not known yet.
        total: nodes over all zones; None while the zones are not known.
        gpus: GPUs of all these nodes; None while the total is not known.
        bounds: of its autoscaling, counted as nodes is; None for a fixed size.
        least, most: the bounds over all zones; None without bounds, and while the zones are not known.
    """

    pool: str
    flavor: str
    spot: bool
    nodes: int
    zones: int | None
    total: int | None
    gpus: int | None
    bounds: Autoscaling | None = None
    least: int | None = None
    most: int | None = None

    @property
    def largest(self) -> int | None:
        """How many nodes it may come to have."""
        return self.most if self.bounds else self.total

    def to_data(self) -> dict[str, Any]:
        """The size as plain values."""
        return {
            "pool": self.pool,
            "flavor": self.flavor,
            "spot": self.spot,
            "nodes": self.nodes,
            "zones": self.zones,
            "total": self.total,
            "gpus": self.gpus,
            "autoscaling": None
            if self.bounds is None
            else {
                "min_nodes": self.bounds.min_nodes,
                "max_nodes": self.bounds.max_nodes,
                "least": self.least,
                "most": self.most,
            },
        }
