# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The fleet as it is recorded at one moment: what `status` tells, and the page."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.findings import Finding
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.clusters.reading import (
    clusters_without_a_pool,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.clusters.views import ClusterView
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.next_passes import next_passes
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.self_check import self_check
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.session import Session
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.substrates import (
    SubstrateView,
    list_substrates,
)

from .standing import Passes


@dataclass(frozen=True, slots=True, kw_only=True)
class Fleet:
    """The fleet at one moment.

    Attributes:
        clusters: those that back no pool.
        findings: the self-check's.
        passes: the next ones.
    """

    at: datetime
    pools: tuple[SubstrateView, ...]
    clusters: tuple[ClusterView, ...]
    findings: tuple[Finding, ...]
    passes: Passes


def read_fleet(session: Session) -> Fleet:
    """Every tenant's pools and clusters, in a bounded number of statements.

    Raises:
        StoreUnavailable: the database is out of reach.
    """
    now = session.clock.now()
    pools, clusters = list_substrates(session), clusters_without_a_pool(session)
    units = {view.record.pool_id for view in pools} | {view.record.id for view in clusters}
    return Fleet(
        at=now,
        pools=pools,
        clusters=clusters,
        findings=self_check(pools, agent=session.settings.agent, now=now),
        passes=Passes(next_passes(session, units), now=now),
    )
