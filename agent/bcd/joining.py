# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Becoming a node of the pool, and becoming one again: what `bcd join` does, and `bcd run` when it is no longer known.

Rules that must hold:

- The token file is read anew on every try: the kubelet replaces it while bcd waits, and takes it away once all have
  joined.
- Nonce and identity are on disk before the first try, so a reply that was lost, or a crash, costs no second use.
- An identity is given up only when a join with another one was accepted. Until then it is tried again: a gateway that
  was restored from a backup may come to know it again.
- A gateway that cannot be heard refuses nobody: a machine that has an identity goes on and serves what is booked.
"""

from __future__ import annotations

import logging
from pathlib import Path

from .backoff import Backoff
from .errors import GatewayError, Refused, Unreachable
from .gateway import Gateway
from .host import Host
from .inventory import Inventory
from .secret import Secret
from .state import Identity, StateFolder
from .token_file import NoToken, Waiting, read_token

# Looking at a file costs nothing, and a booting node should not wait for more than the kubelet.
TOKEN_LOOK_SECONDS = 2.0

logger = logging.getLogger(__name__)


async def become_joined(
    *, state: StateFolder, gateway: Gateway, token_file: Path, node_name: str, host: Host
) -> Identity:
    """Return once this machine has an identity that the gateway does not refuse. Tries for ever."""
    backoff = Backoff(host.chance)
    # The token whose join may have had its effect: good for a repeat of that join after its file is gone.
    sent: Secret | None = None
    waiting = Waiting(token_file)
    while True:
        identity = state.identity()
        if identity is not None and not await _refused(gateway, identity):
            return identity
        token = read_token(token_file)
        if isinstance(token, NoToken):
            if sent is None:
                seconds = TOKEN_LOOK_SECONDS if identity is None else backoff.next_seconds()
                waiting.goes_on(token.why, seconds=seconds)
                await host.clock.sleep(seconds)
                continue
            token = sent
        waiting.is_over()
        joining = state.joining()
        try:
            accepted = await gateway.join(
                token=token,
                nonce=joining.nonce,
                identity=joining.secret,
                hostname=host.hostname,
                inventory=Inventory(node_name=node_name, gpus=host.read_gpus() or ()),
            )
        except GatewayError as error:
            sent = token if isinstance(error, Unreachable) else None
            seconds = backoff.next_seconds()
            logger.warning("cannot join yet, trying again in %.0f s: %s", seconds, error)
            await host.clock.sleep(seconds)
            continue
        logger.info("joined as %s", accepted.node_id)
        return state.accept(joining, accepted)


async def _refused(gateway: Gateway, identity: Identity) -> bool:
    """Whether the gateway says that this identity is no node's. What cannot be found out is no."""
    try:
        await gateway.heartbeat(identity=identity.secret, node_id=identity.node_id, inventory=None)
    except GatewayError as error:
        logger.warning("asking for %s: %s", identity.node_id, error)
        return isinstance(error, Refused) and error.unauthenticated
    return False
