# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""All checks of an opened database: one look at the records, then a try of each account and each cluster."""

from __future__ import annotations

from collections.abc import Collection

from ...model.findings import Check
from ...model.states import ClusterState, SubstrateState
from ...store import api_tokens, clusters, fleet, gateways, work
from ..clusters.views import views_from as clusters_from
from ..session import Session
from ..substrates import views_of
from .accounts import check_accounts
from .endpoints import check_endpoints
from .files import check_credential_files
from .one_cause import told_of_accounts
from .recorded import (
    check_api_tokens,
    check_clusters,
    check_due_times,
    check_gateway_marks,
    check_pools,
    name_of,
)


def check_fleet(session: Session, *, wrong: Collection[str] = ()) -> tuple[Check, ...]:
    """What can be said of the fleet in this database. Changes nothing; takes well under a minute.

    Arguments:
        session: opened with the drivers.
        wrong: sections of the settings that are not right.

    Raises:
        StoreUnavailable: the database went away meanwhile.
    """
    with session.store.read() as tx:
        now = tx.now
        listening, running = gateways.listening(tx), gateways.running(tx)
        accounts = fleet.accounts(tx)
        recorded = [one for one in clusters.clusters(tx) if one.state != ClusterState.DELETED]
        standing = clusters_from(tx, recorded)
        pools = [view for view in views_of(tx, fleet.pools(tx, archived=True)) if _stands(view.record.state)]
        names: dict[str, str] = {view.record.pool_id: f"pool {view.pool}" for view in pools}
        names |= {view.record.id: name_of(view) for view in standing if view.record.substrate_pool_id is None}
        due, held = work.standing(tx, names)
        tokens = None if session.settings.api is None else api_tokens.tokens(tx)
    found = check_accounts(accounts, recorded, open_driver=session.open_driver)
    told = told_of_accounts(found, pools, [view for view in standing if view.record.substrate_pool_id is None])
    idle = {unit: name for unit, name in names.items() if unit not in held}
    return (
        check_gateway_marks(pools, listening, running, now=now),
        check_due_times(idle, due, now=now),
        *(() if tokens is None else (check_api_tokens(tokens, now=now),)),
        *check_credential_files(accounts),
        *found.values(),
        *told.checks,
        *check_pools(told.pools, agent=session.settings.agent, agent_known="agent" not in wrong, now=now),
        *check_clusters(told.clusters),
        *check_endpoints(recorded, named={view.record.id: name_of(view) for view in standing}),
    )


def _stands(state: SubstrateState) -> bool:
    return state != SubstrateState.DELETED
