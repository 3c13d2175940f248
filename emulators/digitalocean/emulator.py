# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The DigitalOcean emulator as a whole: one account with one token, a TLS port, and the CA for its clients."""

from __future__ import annotations

import secrets
from pathlib import Path
from types import TracebackType
from typing import Self

from ..engine import Clock, Engine, FaultScript, RequestLog
from .server import DigitalOceanServer
from .service import KubernetesService, Timings


class DigitalOcean:
    """DigitalOcean on loopback. A context manager that serves while it is open.

    Attributes:
        token: the account's API token.
        ca_file: PEM file of the authority, for pydo's `connection_verify`.
    """

    def __init__(self, *, engine: Engine, directory: Path, timings: Timings | None = None) -> None:
        """Take a port and write the CA file.

        Arguments:
            engine: clock, inventory, request log and faults; the caller closes it.
            directory: where the CA file goes.
            timings: how long things take.
        """
        self._engine = engine
        self.token = f"dop_v1_{secrets.token_hex(32)}"
        service = KubernetesService(engine=engine, timings=timings if timings is not None else Timings())
        self._server = DigitalOceanServer(engine=engine, service=service, token=self.token)
        self.ca_file = directory / "digitalocean-ca.pem"
        self.ca_file.write_text(self._server.ca_pem)

    def __enter__(self) -> Self:
        """Start to serve."""
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop."""
        self.stop()

    def start(self) -> None:
        """Start to serve."""
        self._server.start()

    def stop(self) -> None:
        """Stop."""
        self._server.stop()

    @property
    def endpoint_url(self) -> str:
        """What pydo takes as `endpoint`."""
        return self._server.url

    @property
    def faults(self) -> FaultScript:
        """The engine's fault script; calls are named `<METHOD> <template>`, cloud `digitalocean`."""
        return self._engine.faults

    @property
    def requests(self) -> RequestLog:
        """The engine's request log."""
        return self._engine.log

    @property
    def clock(self) -> Clock:
        """The engine's clock."""
        return self._engine.clock
