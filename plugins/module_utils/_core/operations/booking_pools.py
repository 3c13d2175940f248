# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which pool a booking means: its owner and who books in it are two, for a quota lets a tenant into another's. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..model.errors import InvalidInput, Problem
from ..model.ids import PLATFORM_TENANT, TenantId
from ..model.records import PoolRecord, Reservation


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A pool of the name, or the one of the id, that a caller gave.

    Attributes:
        pool: whoever's it is, archived or not.
        has_quota: whether the tenant who books has a quota there.
        last: the caller's latest reservation there under the name that is asked for.
    """

    pool: PoolRecord
    has_quota: bool
    last: Reservation | None

    @property
    def current(self) -> Reservation | None:
        """That reservation, unless it has ended."""
        return self.last if self.last is not None and self.last.ended_at is None else None


def pool_meant(candidates: Sequence[Candidate], *, tenant_id: TenantId) -> Candidate | None:
    """The pool that a tenant means, of all that have the name. None: there is none that concerns it.

    Its own pools concern it, those where it has a quota, and one where it booked under the name: that is found for as
    long as it is remembered, whatever became of the quota. Of no other pool it learns so much as that it exists.

    What stands under the name goes first, so that a task that is run again finds it, and never books twice because
    a nearer pool was declared since. Then pools that are open to the tenant, before those on their way out and those
    where its quota is gone; then its own, the platform's, another's, as in a document (planning/naming.py); then the
    newest.

    Raises:
        InvalidInput: pools of several other tenants are meant alike.
    """
    concerning = [one for one in candidates if one.pool.tenant_id == tenant_id or one.has_quota or one.last is not None]
    if not concerning:
        return None
    newest_first = sorted(concerning, key=lambda one: one.pool.id, reverse=True)
    meant = min(newest_first, key=lambda one: _distance(one, tenant_id))
    alike = {one.pool.tenant_id for one in concerning if _distance(one, tenant_id) == _distance(meant, tenant_id)}
    if len(alike) > 1:
        owners = " and ".join(sorted(alike))
        raise InvalidInput([Problem(path="pool", message=f"{owners} each have a pool of that name: give its id")])
    return meant


def _distance(one: Candidate, tenant_id: TenantId) -> tuple[bool, bool, bool, bool]:
    """The least is meant."""
    owner = one.pool.tenant_id
    open_to_it = one.pool.archived_at is None and (owner == tenant_id or one.has_quota)
    return one.current is None, not open_to_it, owner != tenant_id, owner != PLATFORM_TENANT
