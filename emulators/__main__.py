# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Start the emulated world and say where it is: `python -m ansible_collections.better_compute.fleet.emulators`.

Prints one JSON line when everything answers, and serves until it is told to stop: by POST /shutdown at the control
URL, by SIGTERM or SIGINT, or, with --while-stdin-is-open, by the end of its standard input (so that it never outlives
whoever started it). The line holds the keys of the emulated accounts, which are good for nothing else.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
from collections.abc import Sequence
from threading import Event, Thread
from typing import Final

from .aws import Timings
from .aws.account import REGION
from .control import ControlApi
from .digitalocean import Timings as DigitalOceanTimings
from .gcp import Timings as GcpTimings
from .machines import MachineTimes
from .world import World

_BLOCK: Final = 4096


def main(arguments: Sequence[str] | None = None) -> int:
    """Run until told to stop; the exit status."""
    parser = argparse.ArgumentParser(prog="emulators", description="The emulated clouds, clusters and machines.")
    parser.add_argument(
        "--haste", type=float, default=1.0, metavar="N", help="providers and machines are N times as fast as real ones"
    )
    parser.add_argument("--while-stdin-is-open", action="store_true", help="stop at the end of standard input")
    options = parser.parse_args(arguments)

    haste: float = options.haste
    with World(
        timings=Timings().divided_by(haste),
        gcp_timings=GcpTimings().divided_by(haste),
        digitalocean_timings=DigitalOceanTimings().divided_by(haste),
        machine_times=MachineTimes().divided_by(haste),
    ) as world:
        world.digitalocean.rate_limit.speed_up(haste)
        control = ControlApi(world.engine, world.machines)
        stop = control.shutdown
        signal.signal(signal.SIGTERM, lambda _number, _frame: stop.set())
        signal.signal(signal.SIGINT, lambda _number, _frame: stop.set())
        if options.while_stdin_is_open:
            Thread(target=_wait_for_end_of_input, args=(stop,), daemon=True).start()
        sys.stdout.write(json.dumps(_endpoints(world, control)) + "\n")
        sys.stdout.flush()
        stop.wait()
        control.stop()
    return 0


def _wait_for_end_of_input(stop: Event) -> None:
    # Not through sys.stdin: a thread that holds its lock would break the interpreter's exit.
    while os.read(0, _BLOCK):
        pass
    stop.set()


def _endpoints(world: World, control: ControlApi) -> dict[str, object]:
    keys = world.aws.operator
    return {
        "control": control.url,
        "aws": {
            "endpoint_url": world.aws.url,
            "region": REGION,
            "access_key_id": keys.access_key_id,
            "secret_access_key": keys.secret_access_key,
        },
        "gcp": {
            "endpoint_url": world.gcp.endpoint_url,
            "project_id": world.gcp.project,
            "service_account_key": world.gcp.service_account_key(),
        },
        "digitalocean": {
            "endpoint_url": world.digitalocean.endpoint_url,
            "ca_file": str(world.digitalocean.ca_file),
            "token": world.digitalocean.token,
        },
    }


if __name__ == "__main__":
    sys.exit(main())
