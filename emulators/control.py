# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A small HTTP API on loopback by which another process looks into the world: what exists, what was asked, shutdown.

GET /inventory, GET /requests (counts by call, and how many changed something), POST /preempt (every Spot machine gets
its notice), POST /shutdown. It holds no secret.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from threading import Event

from .engine import Engine
from .http_server import Environ, HttpServer, StartResponse
from .machines import EmulatedMachines


class ControlApi(HttpServer):
    """Serves from construction to `stop`.

    Attributes:
        shutdown: set when somebody asked for the end.
    """

    def __init__(self, engine: Engine, machines: EmulatedMachines) -> None:
        """Listen on a free loopback port."""
        self._engine = engine
        self._machines = machines
        self.shutdown = Event()
        super().__init__(self._serve, name="world-control")
        self.start()

    def _serve(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
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
