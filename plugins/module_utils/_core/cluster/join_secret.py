# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The join token's Secret in bcd's namespace: the only place where the token itself stands."""

from __future__ import annotations

import base64
import binascii

from ..model.ids import PoolId
from ..model.secret import Secret
from . import objects
from .api import ClusterApi
from .ensuring import ensure
from .names import AGENT_NAMESPACE, JOIN_SECRET, JOIN_SECRET_KEY


def read_join_token(api: ClusterApi, *, pool_id: PoolId) -> Secret | None:
    """The token that bcd finds at the moment; None when there is none, or nothing that could be one.

    Raises:
        NotOurs: a Secret of that name is not this pool's.
    """
    live = objects.read(api, "Secret", JOIN_SECRET, AGENT_NAMESPACE)
    if live is None or objects.is_going(live):
        return None
    objects.require_ours(live, pool_id=pool_id)
    encoded = (live.get("data") or {}).get(JOIN_SECRET_KEY)
    try:
        value = base64.b64decode(encoded or "", validate=True).decode("ascii")
    except (binascii.Error, ValueError):
        return None
    return Secret(value) if value else None


def write_join_token(api: ClusterApi, *, pool_id: PoolId, token: Secret) -> None:
    """Put the token where bcd finds it, in place of an older one; nothing is written when it stands there.

    Raises:
        NotOurs: a Secret of that name is not this pool's.
        ClusterConflict: changed in between, or still being deleted: come again.
    """
    manifest = objects.identity("Secret", JOIN_SECRET, pool_id=pool_id, namespace=AGENT_NAMESPACE)
    manifest["type"] = "Opaque"
    manifest["data"] = {JOIN_SECRET_KEY: base64.b64encode(token.reveal().encode()).decode()}
    ensure(api, manifest, pool_id=pool_id)


def delete_join_token(api: ClusterApi, *, pool_id: PoolId) -> None:
    """Delete the Secret if it is this pool's. Nothing to do is fine."""
    objects.delete_ours(api, "Secret", JOIN_SECRET, AGENT_NAMESPACE, pool_id=pool_id)
