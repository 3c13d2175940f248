# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Machine images of node groups (EKS: amiType): which one a node group gets, and whether one is of the right kind.

The AL2023 images: the NVIDIA ones have drivers but no device plugin, so that bcd's is the only one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from ...model.errors import InvalidRequest
from .calls import Calls

if TYPE_CHECKING:
    from mypy_boto3_ec2 import EC2Client
    from mypy_boto3_ec2.literals import InstanceTypeType

_X86_64 = "x86_64"
_ARM_64 = "ARM_64"
_OF_ARCHITECTURE = {_X86_64: _X86_64, "arm64": _ARM_64}
"""EC2's name of an architecture -> as it stands in an amiType."""

_CUSTOM = "CUSTOM"
"""The image of somebody's launch template: EKS does not know of which kind it is."""


def image_for(call: Calls, ec2: EC2Client, machine_type: str, *, gpus: bool) -> str:
    """The image for a new node group: by the machine's architecture, which EC2 is asked for. One read.

    Raises:
        InvalidRequest: there is no such machine type, or EKS has no image for its architecture.
    """
    # The stubs list the types of their day: AWS decides which there are.
    reply = call(ec2.describe_instance_types, InstanceTypes=[cast("InstanceTypeType", machine_type)])
    known = [
        _OF_ARCHITECTURE[name]
        for found in reply["InstanceTypes"]
        for name in found["ProcessorInfo"]["SupportedArchitectures"]
        if name in _OF_ARCHITECTURE
    ]
    if not known:
        raise InvalidRequest(f"EKS has no machine image for the architecture of {machine_type}")
    return _image(_X86_64 if _X86_64 in known else _ARM_64, gpus=gpus)


def right_image(image: str, *, gpus: bool) -> str:
    """The image itself when it is of the right kind, or of one that cannot be told; else one that would be.

    GPU machines need an image with NVIDIA's drivers, others must not have one; the rest (architecture, Bottlerocket)
    is left to who chose it.

    Arguments:
        image: amiType, empty when it is not known.
    """
    if image in ("", _CUSTOM) or _has_gpu_drivers(image) == gpus:
        return image
    return _image(_ARM_64 if _ARM_64 in image else _X86_64, gpus=gpus)


def _image(architecture: str, *, gpus: bool) -> str:
    return f"AL2023_{architecture}_{'NVIDIA' if gpus else 'STANDARD'}"


def _has_gpu_drivers(image: str) -> bool:
    return "NVIDIA" in image or image.endswith("_GPU")
