# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""An account that is a problem takes what is in trouble on it into its own lines, and nothing else."""

from __future__ import annotations

import pytest

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.findings import Check, Verdict
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.ids import AccountId, TenantId
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.states import (
    ClusterState,
    SubstrateState,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.checks.one_cause import (
    told_of_accounts,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.clusters.views import ClusterView
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.substrates import SubstrateView
from ansible_collections.better_compute.fleet.tests.support import rows

WRONG, WELL = AccountId("acct_wrong"), AccountId("acct_well")
ACCOUNTS = {
    WRONG: Check(about="account wrong", verdict=Verdict.PROBLEM, message="aws refuses the credential"),
    WELL: Check(about="account well", verdict=Verdict.OK, message="aws takes the credential"),
}


def pool(
    account_id: AccountId, state: SubstrateState = SubstrateState.ERROR, message: str = "refused"
) -> SubstrateView:
    record = rows.pool()
    substrate = rows.substrate(
        record.id, rows.cluster(record.id, account_id=account_id), account_id=account_id, state=state, message=message
    )
    return SubstrateView(pool=record.name, provider="aws", account="", record=substrate, ready=False)


def cluster(account_id: AccountId, state: ClusterState = ClusterState.ERROR) -> ClusterView:
    record = rows.cluster(
        None, name="build", tenant_id=TenantId("acme"), account_id=account_id, state=state, message="refused"
    )
    return ClusterView(record=record, account=None, pool=None, node_pools=())


def test_pools_and_clusters_on_it_are_named_once_and_in_one_line() -> None:
    found = told_of_accounts(ACCOUNTS, [pool(WRONG)], [cluster(WRONG)])
    [line] = found.checks
    assert (line.about, line.verdict) == ("account wrong", Verdict.WARNING)
    assert line.message == "on it, in error or not looked at: pool gpu-fleet, cluster build of acme"
    assert [view.record.message for view in found.pools] == [""]
    assert found.clusters == ()


def test_what_stands_on_an_account_that_is_well_is_left_to_the_other_checks() -> None:
    pools, clusters = (pool(WELL),), (cluster(WELL),)
    found = told_of_accounts(ACCOUNTS, pools, clusters)
    assert (found.pools, found.clusters, found.checks) == (pools, clusters, ())


@pytest.mark.parametrize(
    ("state", "message"),
    [(SubstrateState.READY, ""), (SubstrateState.DELETING, "waits for 2 bookings"), (SubstrateState.UPDATING, "waits")],
)
def test_what_is_in_no_trouble_on_it_is_not_named(state: SubstrateState, message: str) -> None:
    pools = (pool(WRONG, state, message),)
    found = told_of_accounts(ACCOUNTS, pools, [])
    assert (found.pools, found.checks) == (pools, ())
