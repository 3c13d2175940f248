# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A small HTTP API on loopback by which another process looks into the world: what exists, what was asked, shutdown.

GET /inventory, GET /requests (counts by call, and how many changed something), POST /preempt (every Spot machine gets
its notice), POST /shutdown. It holds no secret.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from functools import partial
from threading import Event, Thread
from typing import Any, Final

from werkzeug.serving import WSGIRequestHandler, make_server

from .engine import Engine
from .machines import EmulatedMachines

_POLL_SECONDS: Final = 0.02
"""How soon the server notices that it is to stop."""


class _QuietHandler(WSGIRequestHandler):
    def log(self, type: str, message: str, *args: object) -> None:  # noqa: A002 - werkzeug's name
        """Say nothing."""


class ControlApi:
    """Serves from construction to `close`.

    Attributes:
        shutdown: set when somebody asked for the end.
    """

    def __init__(self, engine: Engine, machines: EmulatedMachines) -> None:
        """Listen on a free loopback port."""
        self._engine = engine
        self._machines = machines
        self.shutdown = Event()
        self._server = make_server("127.0.0.1", 0, self._serve, threaded=True, request_handler=_QuietHandler)
        self._thread = Thread(
            target=partial(self._server.serve_forever, poll_interval=_POLL_SECONDS), name="world-control", daemon=True
        )
        self._thread.start()

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self._server.server_port}"

    def close(self) -> None:
        """Answer nobody any more."""
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def _serve(
        self, environ: dict[str, Any], start_response: Callable[[str, list[tuple[str, str]]], object]
    ) -> Iterable[bytes]:
        status, document = self._answer(environ["REQUEST_METHOD"], environ["PATH_INFO"])
        body = json.dumps(document).encode()
        start_response(status, [("Content-Type", "application/json"), ("Content-Length", str(len(body)))])
        return [body]

    def _answer(self, method: str, path: str) -> tuple[str, object]:
        match method, path:
            case "GET", "/inventory":
                items = self._engine.inventory.items()
                data = [item.to_data() for item in items]
                return "200 OK", {"items": data, "machines": self._engine.inventory.machines()}
            case "GET", "/requests":
                log = self._engine.log
                return "200 OK", {"total": log.mark, "writes": len(log.writes()), "calls": log.counts()}
            case "POST", "/preempt":
                going = [machine.instance_id for machine in self._machines.running() if machine.spot]
                for instance_id in going:
                    self._machines.preempt(instance_id)
                return "202 Accepted", {"machines": going}
            case "POST", "/shutdown":
                self.shutdown.set()
                return "202 Accepted", {}
        return "404 Not Found", {"message": f"There is no {method} {path}."}
