# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the machine has: its GPUs, from NVML where the driver's library and its Python binding are there."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

SHARED_DEVICE_FILES = ("nvidiactl", "nvidia-uvm", "nvidia-uvm-tools", "nvidia-modeset")
"""In /dev: what each program that works with a GPU opens beside the GPU's own file."""

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Gpu:
    """One GPU.

    Attributes:
        id: its NVML UUID, at most 63 characters.
        model: e.g. `NVIDIA H100 80GB HBM3`.
        nodes: the device files that a program needs to work with it, as far as bcd sees them. Not part of what it is.
    """

    id: str
    model: str
    nodes: tuple[str, ...] = field(default=(), compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inventory:
    """What bcd reports of its machine.

    Attributes:
        node_name: the Kubernetes Node that the pod runs on.
        gpus: sorted by id, so that two readings of the same machine are equal.
    """

    node_name: str
    gpus: tuple[Gpu, ...]

    def to_wire(self) -> dict[str, Any]:
        """The wire schema's `inventory`."""
        return {
            "os": {"kubernetesNodeName": self.node_name},
            "gpus": [{"id": gpu.id, "model": gpu.model} for gpu in self.gpus],
        }


def read_nvml() -> tuple[Gpu, ...] | None:
    """The GPUs that NVML sees, sorted by id; None when NVML cannot be asked, which says nothing about the GPUs."""
    try:
        import pynvml  # type: ignore[import-not-found,unused-ignore]  # the image has it, a workstation need not
    except ImportError:
        return None
    try:
        pynvml.nvmlInit()
        try:
            gpus = [
                _gpu(pynvml, pynvml.nvmlDeviceGetHandleByIndex(index)) for index in range(pynvml.nvmlDeviceGetCount())
            ]
        finally:
            pynvml.nvmlShutdown()
    except pynvml.NVMLError as error:
        logger.warning("NVML does not answer: %s", error)
        return None
    return tuple(sorted(gpus, key=lambda gpu: gpu.id))


def _gpu(pynvml: Any, handle: Any) -> Gpu:
    return Gpu(
        id=_text(pynvml.nvmlDeviceGetUUID(handle)),
        model=_text(pynvml.nvmlDeviceGetName(handle)),
        nodes=device_files(Path("/dev"), minor=pynvml.nvmlDeviceGetMinorNumber(handle)),
    )


def device_files(folder: Path, *, minor: int) -> tuple[str, ...]:
    """The GPU's own device file and those that all GPUs share; only what is there, or no container could have it."""
    files = (folder / name for name in (f"nvidia{minor}", *SHARED_DEVICE_FILES))
    return tuple(str(file) for file in files if file.exists())


def _text(value: str | bytes) -> str:
    """Older bindings return bytes."""
    return value.decode() if isinstance(value, bytes) else value
