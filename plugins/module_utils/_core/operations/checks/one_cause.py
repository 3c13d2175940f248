# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One cause is one problem: what stands on an account that is a problem is not counted as well. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace

from ...model.findings import Check, Verdict, some_of
from ...model.ids import AccountId
from ...model.states import ClusterState, SubstrateState
from ..clusters.views import ClusterView
from ..substrates import SubstrateView
from .recorded import name_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """What stands on accounts, as the other checks are to tell it.

    Attributes:
        pools: all of them, without the messages that their account's line tells the cause of.
        clusters: likewise those that back no pool; the ones in trouble for their account are left out.
        checks: one line for each account that is a problem, with the names of what is in trouble on it.
    """

    pools: tuple[SubstrateView, ...]
    clusters: tuple[ClusterView, ...]
    checks: tuple[Check, ...]


def told_of_accounts(
    accounts: Mapping[AccountId, Check], pools: Iterable[SubstrateView], clusters: Iterable[ClusterView]
) -> Standing:
    """Sort out what is in trouble on an account that is a problem itself.

    Whether it is for that, no text can tell: providers call one refusal by another name in each of their APIs. It is to
    be looked at when the account is set right.

    Arguments:
        accounts: what was found of each.
        clusters: those that back no pool.
    """
    wrong = {account_id for account_id, check in accounts.items() if check.verdict == Verdict.PROBLEM}
    named: dict[AccountId, list[str]] = {}
    left_pools, left_clusters = [], []
    for pool in pools:
        of_account = _is_in_trouble(pool, wrong)
        if of_account:
            named.setdefault(pool.record.account_id, []).append(f"pool {pool.pool}")
        left_pools.append(replace(pool, record=replace(pool.record, message="")) if of_account else pool)
    for cluster in clusters:
        record = cluster.record
        if record.account_id in wrong and _has_trouble(record.state, record.message):
            named.setdefault(record.account_id, []).append(name_of(cluster))
        else:
            left_clusters.append(cluster)
    checks = tuple(_pointing(accounts[account_id].about, names) for account_id, names in named.items())
    return Standing(pools=tuple(left_pools), clusters=tuple(left_clusters), checks=checks)


def _is_in_trouble(pool: SubstrateView, wrong: Collection[AccountId]) -> bool:
    return pool.record.account_id in wrong and _has_trouble(pool.record.state, pool.record.message)


def _has_trouble(state: SubstrateState | ClusterState, message: str) -> bool:
    told = {SubstrateState.ERROR, SubstrateState.READY, ClusterState.ERROR, ClusterState.READY}
    return bool(message) and state in told


def _pointing(account: str, names: list[str]) -> Check:
    return Check(
        about=account,
        verdict=Verdict.WARNING,
        message=f"on it, in error or not looked at: {some_of(names)}",
        cure="set the account right first; `bc-fleetd status` has what each of them says",
    )
