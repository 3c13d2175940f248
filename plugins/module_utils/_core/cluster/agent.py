# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""bcd in the cluster: brought to what the settings say, and taken away again."""

from __future__ import annotations

from ..model.agent import AgentSettings
from ..model.ids import PoolId
from . import objects
from .api import ClusterApi
from .ensuring import ensure
from .manifests import agent_manifests
from .names import AGENT, AGENT_NAMESPACE, JOIN_SECRET


def apply_agent(api: ClusterApi, *, pool_id: PoolId, agent: AgentSettings, driver_folder: str | None = None) -> bool:
    """Make bcd's Namespace, ConfigMap and DaemonSet stand as the settings say; three reads where they do already.

    Arguments:
        driver_folder: see `agent_manifests`.

    Returns:
        Whether anything was written.

    Raises:
        NotOurs: an object of one of the names is not this pool's; it was left alone.
        ClusterConflict: changed by somebody in between, or still being deleted: come again.
    """
    manifests = agent_manifests(pool_id=pool_id, agent=agent, driver_folder=driver_folder)
    written = [ensure(api, manifest, pool_id=pool_id) for manifest in manifests]
    return any(written)


def remove_agent(api: ClusterApi, *, pool_id: PoolId) -> bool:
    """Delete what carries this pool's label, the namespace last; what does not is left alone.

    The DaemonSet stays, marked as going, until its pods are gone, so that True means: no bcd runs there any more.

    Returns:
        True when all is gone; False while something is still going: call again.

    Raises:
        ClusterConflict: an object was replaced in between: call again.
    """
    gone = [
        objects.delete_ours(api, "DaemonSet", AGENT, AGENT_NAMESPACE, pool_id=pool_id, dependents=True),
        objects.delete_ours(api, "Secret", JOIN_SECRET, AGENT_NAMESPACE, pool_id=pool_id),
        objects.delete_ours(api, "ConfigMap", AGENT, AGENT_NAMESPACE, pool_id=pool_id),
    ]
    return all(gone) and objects.delete_ours(api, "Namespace", AGENT_NAMESPACE, pool_id=pool_id)
