# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A small HTTP API on loopback by which another process looks into the world, and makes machines fare ill.

GET /inventory, GET /requests (counts by call, and how many changed something), GET /machines, POST /preempt (every
Spot machine gets its notice), POST /shutdown; and for one machine POST /machines/<instance id>/<call>, with what the
call takes as a JSON object: preempt, lose, stop, start, cut-off, mend, rename {hostname?, nodeName?},
replace-node {afterSeconds?}, replace-machine {afterSeconds?}: see EmulatedMachines. It holds no secret.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from threading import Event
from typing import Final

from .engine import Engine
from .http_server import Environ, HttpServer, StartResponse
from .machines import EmulatedMachines, NoSuchMachine
from .neighbours import Machine


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
        content = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
        status, document = self._answer(environ["REQUEST_METHOD"], environ["PATH_INFO"], content)
        body = json.dumps(document).encode()
        start_response(status, [("Content-Type", "application/json"), ("Content-Length", str(len(body)))])
        return [body]

    def _answer(self, method: str, path: str, content: bytes) -> tuple[str, object]:
        match method, path.strip("/").split("/"):
            case "GET", ["inventory"]:
                items = self._engine.inventory.items()
                data = [item.to_data() for item in items]
                return "200 OK", {"items": data, "machines": self._engine.inventory.machines()}
            case "GET", ["requests"]:
                log = self._engine.log
                return "200 OK", {"total": log.mark, "writes": len(log.writes()), "calls": log.counts()}
            case "GET", ["machines"]:
                return "200 OK", {"machines": [_described(machine) for machine in self._machines.running()]}
            case "POST", ["preempt"]:
                return "202 Accepted", {"machines": list(self._preempt_all())}
            case "POST", ["machines", instance_id, name] if name in _CALLS:
                return self._call(_CALLS[name], instance_id, content)
            case "POST", ["shutdown"]:
                self.shutdown.set()
                return "202 Accepted", {}
        return "404 Not Found", {"message": f"There is no {method} {path}."}

    def _call(self, call: _MachineCall, instance_id: str, content: bytes) -> tuple[str, object]:
        try:
            call.do(self._machines, instance_id, **call.arguments(content))
        except NoSuchMachine as error:
            return "404 Not Found", {"message": str(error)}
        except ValueError as error:
            return "400 Bad Request", {"message": str(error)}
        return "202 Accepted", {"machines": [instance_id]}

    def _preempt_all(self) -> Iterator[str]:
        for machine in self._machines.running():
            if machine.spot:
                # It may have ended since.
                with suppress(NoSuchMachine):
                    self._machines.preempt(machine.instance_id)
                    yield machine.instance_id


def _name(value: object) -> str:
    if not isinstance(value, str) or not value:
        raise ValueError("must be a string that is not empty")
    return value


def _seconds(value: object) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value < math.inf:
        raise ValueError("must be a number of at least 0")
    return value


@dataclass(frozen=True, slots=True, kw_only=True)
class _MachineCall:
    """What can be done to a machine.

    Attributes:
        do: called with the machines, an instance id, and the arguments by name.
        takes: how each key of the JSON object becomes an argument.
    """

    do: Callable[..., None]
    takes: Mapping[str, tuple[str, Callable[[object], object]]] = field(default_factory=dict)

    def arguments(self, content: bytes) -> dict[str, object]:
        """Read a request's body. Raises ValueError."""
        document = json.loads(content) if content else {}
        if not isinstance(document, dict):
            raise ValueError("The body must be a JSON object.")
        arguments = {}
        for key, value in document.items():
            if key not in self.takes:
                raise ValueError(f"{key} is unknown here; known are: {', '.join(self.takes) or 'none'}.")
            name, read = self.takes[key]
            try:
                arguments[name] = read(value)
            except ValueError as error:
                raise ValueError(f"{key} {error}.") from None
        return arguments


_LATER = {"afterSeconds": ("after_seconds", _seconds)}

_CALLS: Final[Mapping[str, _MachineCall]] = {
    "preempt": _MachineCall(do=EmulatedMachines.preempt),
    "lose": _MachineCall(do=EmulatedMachines.lose),
    "stop": _MachineCall(do=EmulatedMachines.stop),
    "start": _MachineCall(do=EmulatedMachines.start),
    "cut-off": _MachineCall(do=EmulatedMachines.cut_off),
    "mend": _MachineCall(do=partial(EmulatedMachines.cut_off, cut=False)),
    "rename": _MachineCall(
        do=EmulatedMachines.rename, takes={"hostname": ("hostname", _name), "nodeName": ("node_name", _name)}
    ),
    "replace-node": _MachineCall(do=EmulatedMachines.replace_node, takes=_LATER),
    "replace-machine": _MachineCall(do=EmulatedMachines.replace_machine, takes=_LATER),
}


def _described(machine: Machine) -> dict[str, object]:
    return {
        "instanceId": machine.instance_id,
        "nodeName": machine.node_name,
        "cluster": machine.cluster,
        "nodePool": machine.node_group,
        "spot": machine.spot,
        "gpus": machine.gpus,
    }
