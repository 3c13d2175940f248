# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""plan(): the document beside the records, resource by resource."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from ..model.declared import FleetConfig
from . import adoptions, limits, places, pools, quotas, sizes, totals
from .naming import Declared
from .plan import Plan
from .recorded import Observed, Records, index
from .scope import Scope


def plan(
    config: FleetConfig,
    records: Records,
    *,
    zones: Mapping[str, tuple[str, ...]],
    prune: bool,
    observed: Observed | None = None,
    state: Literal["present", "absent"] = "present",
    scope: Scope | None = None,
) -> Plan:
    """Say what applying a document would do.

    Arguments:
        zones: account's name -> the zones that its node pools are spread over; an account may be missing while they
            are not known, and its recorded ones are used then, if it has any.
        prune: whether what is recorded and no longer declared goes. Nothing is ever deleted without it.
        observed: what providers hold now; None, or a pool that is not in it, was not looked at.
        state: `absent` plans the end of everything that the document names, and of nothing else.
        scope: what counts as no longer declared where the document does not name it; None for what goes with `state`.

    Raises:
        OperationError: UNSUPPORTED, for pools on a provider without a driver; QUOTA_EXCEEDED, for more node pools or
            nodes than there can be; CONFLICT, for clusters to adopt that somebody has; every case at once.
        InvalidInput: a name that is too long at the provider.
    """
    recorded = index(records)
    scope = scope or (Scope.of_everything() if state == "present" else Scope.of_document(config))
    wanted = config if state == "present" else FleetConfig(version=config.version)
    limits.check_providers(wanted)
    declared = Declared.of(wanted)
    adoptions.refuse_held(wanted, records)
    account_zones = sizes.zones_of_accounts(wanted, recorded, zones=zones)
    flavor_sizes = sizes.sizes(wanted, declared, recorded, account_zones)
    limits.check_sizes(wanted, declared, recorded, flavor_sizes)
    pool_plan = pools.plan_pools(wanted, declared, recorded, scope=scope, prune=prune)
    drifted = None
    if observed:
        from .drift import plan_drift  # where nobody looked at the providers, nothing of it is needed

        drifted = plan_drift(wanted, recorded, pool_plan, observed=observed)
    quota_changes = quotas.plan_quotas(wanted, declared, recorded, scope=scope, prune=prune)
    changes = (
        *places.plan_sites(wanted, recorded, scope=scope, prune=prune),
        *places.plan_accounts(wanted, recorded, scope=scope, prune=prune),
        *pools.grouped(pool_plan, drifted.changes if drifted else (), quota_changes),
    )
    return Plan(
        config=wanted,
        serial=records.serial,
        prune=prune,
        changes=changes,
        sizes=flavor_sizes,
        warnings=(
            *sizes.warnings(wanted, declared, recorded, account_zones),
            *totals.warnings(wanted, declared, flavor_sizes, changes),
            *quotas.warnings(wanted, declared, recorded),
            *(drifted.warnings if drifted else ()),
        ),
    )
