# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Step: a join token sits in the cluster's Secret while some Node never joined, and only then.

What is to be done is decided in nodes/join_token.py. The row is committed before the Secret is written.
"""

from __future__ import annotations

from ...cluster import join_secret
from ...cluster.api import ClusterApi
from ...model.errors import ClusterError
from ...nodes.join_token import TokenPlan, carry_out, plan_token, withdraw_tokens
from ...store import join_tokens
from ..context import PassContext
from ..outcome import DONE, Outcome
from .entry import refused_inside


def keep_join_token(ctx: PassContext) -> Outcome:
    """Mint, resize, replace or withdraw the pool's token, as its listed Nodes need it.

    Where bcd could not be applied this time, one that stands is kept for the bcd that stands, and no first one is made.
    """
    if ctx.api is None or ctx.matching is None:
        return DONE
    try:
        secret = join_secret.read_join_token(ctx.api, pool_id=ctx.pool.id)
        digest = secret.sha256() if secret else None
        plan = plan_token(ctx.tokens, secret_hash=digest, matching=ctx.matching, now=ctx.now)
        if plan.mint is None or secret is not None or ctx.agent_applied:
            _carry_out(ctx, ctx.api, plan)
    except ClusterError as error:
        return refused_inside(ctx, error, doing="keeping the join token's Secret")
    return DONE


def withdraw_token(ctx: PassContext) -> Outcome:
    """For a teardown: revoke every live token, then delete the Secret. Nobody joins a pool that goes."""
    api = ctx.api if ctx.claimed else None
    with ctx.store.read() as tx:
        live = join_tokens.live_tokens(tx, ctx.pool.id)
    try:
        secret = join_secret.read_join_token(api, pool_id=ctx.pool.id) if api else None
        _carry_out(ctx, api, withdraw_tokens(live, secret_hash=secret.sha256() if secret else None))
    except ClusterError as error:
        _carry_out(ctx, None, withdraw_tokens(live, secret_hash=None))
        return refused_inside(ctx, error, doing="deleting the join token's Secret")
    return DONE


def _carry_out(ctx: PassContext, api: ClusterApi | None, plan: TokenPlan) -> None:
    token = None
    if plan.changes_rows:
        with ctx.write() as tx:
            token = carry_out(tx, plan, pool_id=ctx.pool.id)
    if api is not None and token is not None:
        join_secret.write_join_token(api, pool_id=ctx.pool.id, token=token)
    if api is not None and plan.delete_secret:
        join_secret.delete_join_token(api, pool_id=ctx.pool.id)
