# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The API as a server."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.session import Session

from ..web.certificate import Certificate
from ..web.server import WebServer
from .application import Api, Metrics


class ApiServer(WebServer):
    """The API on one address, from construction to `close`. A context manager."""

    def __init__(
        self, *, session: Session, certificate: Certificate, host: str, port: int, metrics: Metrics | None = None
    ) -> None:
        """Listen, and return once it answers.

        Arguments:
            session: what is done is done in it, as the caller whose token came with the call.
            metrics: gives body and content type of /metrics, which is not there without.

        Raises:
            NoCertificate: key and certificate cannot be read, or do not belong together.
            CannotListen: the address cannot be listened on.
        """
        super().__init__(
            Api(session=session, metrics=metrics), name="API", certificate=certificate, host=host, port=port
        )


@contextmanager
def api_of(session: Session, certificate: Certificate, *, metrics: Metrics | None = None) -> Iterator[ApiServer | None]:
    """The API that the session's settings ask for, within the block; None where they have no [api].

    Raises:
        NoCertificate, CannotListen: as :class:`ApiServer`.
    """
    asked = session.settings.api
    if asked is None:
        yield None
        return
    with ApiServer(
        session=session, certificate=certificate, host=asked.listen_host, port=asked.listen_port, metrics=metrics
    ) as server:
        yield server
