# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""bc-fleetd as a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

COMMAND = [sys.executable, "-m", "ansible_collections.better_compute.fleet.daemon"]
CHECKOUT = Path(__file__).parents[2]


def environment_for(database_url: str, folder: Path) -> dict[str, str]:
    """The environment of a daemon on this database, with its state in this folder and a free port."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("BC_FLEET_", "AWS_"))}
    return kept | {
        "BC_FLEET_STORE_DATABASE_URL": database_url,
        "BC_FLEET_GATEWAY_STATE_DIR": str(folder / "state"),
        "BC_FLEET_GATEWAY_LISTEN_PORT": "0",
    }


@contextmanager
def daemon(environment: Mapping[str, str]) -> Iterator[subprocess.Popen[str]]:
    """`bc-fleetd run`; killed at the end if it still runs."""
    with subprocess.Popen(
        [*COMMAND, "run"],
        cwd=CHECKOUT,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()
