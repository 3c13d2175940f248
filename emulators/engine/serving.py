# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What every emulated cloud is to those who use it: something that is started and stopped, best by `with`."""

from __future__ import annotations

from types import TracebackType
from typing import Protocol, Self


class Server(Protocol):
    """What answers, on a port that it has from the beginning."""

    def start(self) -> None:
        """Begin to answer."""

    def stop(self) -> None:
        """Answer nobody any more."""


class Serving:
    """An emulated cloud: serves while it is open."""

    _server: Server

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
