# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The gateway as a server, with what it hears of nodes."""

from __future__ import annotations

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.clock import Clock
from ansible_collections.better_compute.fleet.plugins.module_utils._core.nodes.heartbeat import Heartbeats
from ansible_collections.better_compute.fleet.plugins.module_utils._core.store import Store

from ..metrics import GatewayMetrics
from ..web.certificate import Certificate
from ..web.server import WebServer
from .application import Gateway
from .together import TOGETHER_SECONDS


class GatewayServer(WebServer):
    """The gateway on one address, from construction to `close`. A context manager.

    Attributes:
        pin: of the key that it shows.
        heartbeats: what it heard: to be flushed by whoever runs it, every nodes.heartbeat.FLUSH_SECONDS.
    """

    def __init__(
        self,
        *,
        store: Store,
        clock: Clock,
        certificate: Certificate,
        host: str,
        port: int,
        metrics: GatewayMetrics | None = None,
        together_seconds: float = TOGETHER_SECONDS,
    ) -> None:
        """Listen, and return once it answers.

        Arguments:
            clock: measures heartbeats and bad credentials; time-outs of connections are real time always.
            metrics: counts what is answered; None where nobody asks for it.
            together_seconds: for which the first of those who call, or join, waits for others: one question for all.

        Raises:
            NoCertificate: key and certificate cannot be read, or do not belong together.
            CannotListen: the address cannot be listened on.
        """
        self.heartbeats = Heartbeats(clock=clock)
        self.pin = certificate.pin
        self._gateway = Gateway(
            store=store,
            clock=clock,
            heartbeats=self.heartbeats,
            metrics=metrics or GatewayMetrics(),
            together_seconds=together_seconds,
        )
        super().__init__(self._gateway, name="gateway", certificate=certificate, host=host, port=port)
