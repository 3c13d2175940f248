# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""bcd as a process of its own."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from asyncio.subprocess import PIPE, Process
from pathlib import Path

from ansible_collections.better_compute.fleet.tests.support.bcd_bench import Bench, bench
from ansible_collections.better_compute.fleet.tests.support.gateway_double import HEARTBEAT
from bcd.settings import Variable

AGENT = Path(__file__).parents[3] / "agent"


async def _start(command: str, environ: dict[str, str]) -> Process:
    """`bcd <command>` with only this environment, isolated from what is installed for the collection's sake."""
    return await asyncio.create_subprocess_exec(
        sys.executable, "-m", "bcd", command, env={"PYTHONPATH": str(AGENT)} | environ, stderr=PIPE, stdout=PIPE
    )


async def _wrong_environment() -> None:
    process = await _start("join", {})
    out, err = await process.communicate()
    assert process.returncode == 2
    assert out == b""
    assert err.count(b"is not set") == 5


def test_a_wrong_environment_ends_at_once_and_names_every_problem() -> None:
    asyncio.run(_wrong_environment())


async def _help() -> str:
    process = await _start("--help", {})
    out, err = await process.communicate()
    assert (process.returncode, err) == (0, b"")
    return out.decode()


def test_the_help_lists_the_environment() -> None:
    assert asyncio.run(_help()).endswith(f"\nenvironment variables:\n{Variable.table()}\n")


async def _whole_life(b: Bench) -> None:
    b.give_token()
    # Not the folder of this machine's own kubelet, if it has one.
    b.device_plugins = b.folder / "device-plugins"
    joining = await _start("join", dict(b.environ()))
    assert (await joining.communicate())[1].count(b"joined as node_") == 1
    assert joining.returncode == 0
    running = await _start("run", dict(b.environ()))
    await b.gateway.until(HEARTBEAT)
    running.send_signal(signal.SIGTERM)
    _out, err = await running.communicate()
    assert running.returncode == 0
    assert b"Traceback" not in err


async def _joins_and_runs(folder: Path) -> None:
    async with bench(folder) as b:
        await _whole_life(b)


def test_bcd_joins_runs_and_ends_quietly_when_the_pod_is_stopped(tmp_path: Path) -> None:
    asyncio.run(_joins_and_runs(tmp_path))


async def _imports() -> str:
    code = "import bcd.command, sys; print(*sorted({name.partition('.')[0] for name in sys.modules}))"
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", code, env={"PYTHONPATH": str(AGENT), "PATH": os.environ["PATH"]}, stdout=PIPE
    )
    return (await process.communicate())[0].decode()


def test_bcd_imports_nothing_of_the_collection() -> None:
    imported = asyncio.run(_imports()).split()
    assert {"bcd", "httpcore", "cryptography"} <= set(imported)
    assert not {"ansible", "ansible_collections", "boto3", "kubernetes", "sqlalchemy", "pydantic"} & set(imported)
