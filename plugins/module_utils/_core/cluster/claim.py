# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The claim: a ConfigMap that says which pool holds the cluster, whichever deployment or account reaches it (spec)."""

from __future__ import annotations

from ..model.errors import ClaimHeld, ClusterConflict
from ..model.ids import PoolId
from . import objects
from .api import ClusterApi
from .names import CLAIM, CLAIM_NAMESPACE


def hold_claim(api: ClusterApi, *, pool_id: PoolId) -> None:
    """Create the claim for this pool, or see that it stands. It is never applied over another's; one read when held.

    Raises:
        ClaimHeld: another pool's claim, or an unlabelled ConfigMap of that name, stands there.
        ClusterConflict: an earlier claim of ours is just being deleted: come again.
    """
    live = objects.read(api, "ConfigMap", CLAIM, CLAIM_NAMESPACE)
    if live is None:
        try:
            objects.create(api, objects.identity("ConfigMap", CLAIM, pool_id=pool_id, namespace=CLAIM_NAMESPACE))
        except ClusterConflict:
            live = objects.read(api, "ConfigMap", CLAIM, CLAIM_NAMESPACE)
            if live is None:
                raise
        else:
            return
    holder = objects.owner(live)
    if holder != pool_id:
        name = f"ConfigMap {CLAIM_NAMESPACE}/{CLAIM}"
        held_by = f"pool {holder} holds this cluster" if holder else "the cluster is claimed without a pool's name"
        raise ClaimHeld(
            f"{held_by} ({name}), and one cluster backs one pool. To move it to another pool, archive "
            f"{'that pool' if holder else 'the pool that uses it'} and wait until its substrate is deleted. "
            "Delete the ConfigMap by hand only if the deployment that made it is gone for good."
        )
    if objects.is_going(live):
        raise ClusterConflict(f"ConfigMap {CLAIM_NAMESPACE}/{CLAIM} is being deleted; it can be made when it is gone")


def drop_claim(api: ClusterApi, *, pool_id: PoolId) -> bool:
    """Delete the claim if it is this pool's; by uid, so that a successor's is never hit. Nothing to do is fine.

    Returns:
        True when none of ours stands (any more), False while it is going.

    Raises:
        ClusterConflict: it was replaced in between: look again.
    """
    return objects.delete_ours(api, "ConfigMap", CLAIM, CLAIM_NAMESPACE, pool_id=pool_id)


def held_by(api: ClusterApi) -> str | None:
    """Whose the claim is: a pool's id, empty for one that names none, None when none stands. Reads only."""
    live = objects.read(api, "ConfigMap", CLAIM, CLAIM_NAMESPACE)
    return None if live is None else objects.owner(live) or ""
