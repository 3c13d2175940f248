# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""bcd's image as the emulated machines run it: the real code, in this process, on the machine's clock and network."""

from __future__ import annotations

import importlib.util
import logging
import random
import sys
import uuid
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from bcd.command import JOIN, RUN, execute
from bcd.host import Host
from bcd.inventory import Gpu

from ..engine import Clock
from ..neighbours import Machine
from .network import CuttableNetwork

NO_SUCH_PROGRAM: Final = 127
CRASHED: Final = 1

if importlib.util.find_spec("sniffio") is None:
    # httpcore tries to import it at each of its locks. A failure is not remembered and looks through every folder of
    # sys.path: a fifth of what a joining machine costs, thousands of times in this process. This is how one is.
    sys.modules["sniffio"] = None  # type: ignore[assignment]  # what CPython documents for it

_GPU_NAMESPACE: Final = uuid.UUID("6f1d1c5e-0b60-5c5b-9a55-2f3c8a0f7d11")
"""Of no meaning: makes a machine's GPU ids the same whenever it is asked."""

logger = logging.getLogger(__name__)


def gpus_of(machine: Machine, *, successor: int = 0) -> tuple[Gpu, ...]:
    """A machine's made-up GPUs, sorted by id as NVML's are read.

    Arguments:
        successor: how many machines had its instance id before it. The same id and number, the same GPUs.
    """
    of = f"{machine.instance_id}/{successor}" if successor else machine.instance_id
    ids = sorted(f"GPU-{uuid.uuid5(_GPU_NAMESPACE, f'{of}/{index}')}" for index in range(machine.gpus))
    return tuple(Gpu(id=gpu_id, model=machine.gpu_model) for gpu_id in ids)


class BcdImage:
    """Runs bcd's commands for one machine."""

    def __init__(
        self,
        machine: Machine,
        *,
        clock: Clock,
        network: CuttableNetwork,
        long_poll_seconds: int,
        successor: int = 0,
    ) -> None:
        """Nothing runs yet.

        Arguments:
            long_poll_seconds: 0 where time is moved by hand, see bcd.host.Host.
            successor: see gpus_of.
        """
        gpus = gpus_of(machine, successor=successor)
        # A pod without hostNetwork has a name of its own; what follows the DaemonSet's name is made up.
        suffix = uuid.uuid5(_GPU_NAMESPACE, machine.instance_id).hex[:5]
        self._host = Host(
            hostname=f"bcd-{suffix}",
            read_gpus=lambda: gpus,
            clock=clock,
            chance=random.Random(machine.instance_id),  # noqa: S311 - jitter, the same in every run
            network=network,
            long_poll_seconds=long_poll_seconds,
        )
        self._machine = machine

    def rename(self, hostname: str) -> None:
        """What the machine calls itself, for commands that start from now on."""
        self._host = replace(self._host, hostname=hostname)

    async def run(self, command: list[str], environ: Mapping[str, str]) -> int:
        """Run a command with an environment; returns its exit code."""
        if len(command) != 2 or command[0] != "bcd" or command[1] not in (JOIN, RUN):
            logger.warning("%s: bcd's image has no %s", self._machine.node_name, command)
            return NO_SUCH_PROGRAM
        try:
            return await execute(command[1], environ=environ, host=self._host)
        except Exception:
            # A real process would end with a traceback, and the kubelet would start another one.
            logger.exception("bcd %s on %s crashed", command[1], self._machine.node_name)
            return CRASHED
