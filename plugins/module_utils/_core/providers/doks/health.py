# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Why a node pool has not all of its nodes. DOKS says that, if at all, of the cluster."""

from __future__ import annotations

import re

from ...model.errors import ProviderError, ProviderQuotaExceeded, StockedOut
from .errors import refusal
from .naming import Data, message_of, state_of

_TOLD = (StockedOut, ProviderQuotaExceeded)
"""What a cluster's message can say of machines that do not come. Anything else it says is no node pool's failure."""

_UNPROCESSABLE_STATUS = 422
_BETWEEN = "; "
_WORD = re.compile(r"[a-z0-9][a-z0-9-]*", re.ASCII)


def failure(pool: Data, cluster: Data) -> ProviderError | None:
    """The reason, typed, while nodes are missing; None when there are all, or no reason is given."""
    missing = pool["count"] - sum(state_of(node) == "running" for node in pool.get("nodes") or ())
    if missing <= 0:
        return None
    others = {other["name"] for other in cluster["node_pools"]} - {pool["name"]}
    for message in message_of(cluster).split(_BETWEEN):
        reason = refusal(status=_UNPROCESSABLE_STATUS, body={"message": message})
        about = set(_WORD.findall(message))
        if isinstance(reason, _TOLD) and (pool["name"] in about or not about & others):
            return reason
    return None
