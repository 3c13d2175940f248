# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""kubernetesSubstrates: get (spec)."""

from __future__ import annotations

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import Code
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.ids import TenantId
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.session import Session
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.substrates import get_substrate

from .bodies import Body, PoolIdText
from .call import READ, Call
from .views import Substrate, View


class GetSubstrate(Body):
    """Whose substrate."""

    pool_id: PoolIdText


def _get(session: Session, body: GetSubstrate) -> View:
    view = get_substrate(session, pool=body.pool_id, tenant_id=TenantId(body.tenant_id))
    return Substrate.of(view.to_data())


CALLS = (
    Call(
        resource="kubernetesSubstrates",
        method="get",
        summary="The substrate of a pool: where it stands, and how many of its Nodes have joined.",
        permission=READ,
        takes=GetSubstrate,
        gives=Substrate,
        does=_get,
        codes=(Code.NOT_FOUND,),
        example={"tenantId": "platform", "poolId": "pool_01kbb6z6h7hf3gpyyp8gtxbdcs"},
    ),
)
