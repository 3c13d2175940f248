# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What DigitalOcean offers: regions, sizes with their GPUs, versions and what they can be upgraded to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from .refusals import invalid

REGIONS: Final = {
    "ams3": "Amsterdam 3",
    "atl1": "Atlanta 1",
    "blr1": "Bangalore 1",
    "fra1": "Frankfurt 1",
    "lon1": "London 1",
    "nyc1": "New York 1",
    "nyc2": "New York 2",
    "nyc3": "New York 3",
    "sfo3": "San Francisco 3",
    "sgp1": "Singapore 1",
    "syd1": "Sydney 1",
    "tor1": "Toronto 1",
}
"""Display names by slug."""

VERSIONS: Final = ("1.34.1-do.0", "1.33.6-do.0", "1.32.10-do.0")
"""The newest slug of each minor version, newest first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """A droplet size.

    Attributes:
        vcpus: how many.
        memory_mib: its memory.
        gpus: how many GPUs.
        brand: `nvidia` or `amd`; empty without GPUs.
        model: e.g. `h100`, as the label gpu-model has it; empty without GPUs.
    """

    vcpus: int
    memory_mib: int
    gpus: int = 0
    brand: str = ""
    model: str = ""


SIZES: Final = {
    "s-1vcpu-2gb": Size(vcpus=1, memory_mib=2048),
    "s-2vcpu-4gb": Size(vcpus=2, memory_mib=4096),
    "s-4vcpu-8gb": Size(vcpus=4, memory_mib=8192),
    "c-4": Size(vcpus=4, memory_mib=8192),
    "g-8vcpu-32gb": Size(vcpus=8, memory_mib=32768),
    "gpu-4000adax1-20gb": Size(vcpus=8, memory_mib=32768, gpus=1, brand="nvidia", model="rtx4000-ada"),
    "gpu-6000adax1-48gb": Size(vcpus=8, memory_mib=65536, gpus=1, brand="nvidia", model="rtx6000-ada"),
    "gpu-l40sx1-48gb": Size(vcpus=8, memory_mib=65536, gpus=1, brand="nvidia", model="l40s"),
    "gpu-h100x1-80gb": Size(vcpus=20, memory_mib=245760, gpus=1, brand="nvidia", model="h100"),
    "gpu-h100x8-640gb": Size(vcpus=160, memory_mib=1966080, gpus=8, brand="nvidia", model="h100"),
    "gpu-h200x1-141gb": Size(vcpus=24, memory_mib=245760, gpus=1, brand="nvidia", model="h200"),
    "gpu-h200x8-1128gb": Size(vcpus=192, memory_mib=1966080, gpus=8, brand="nvidia", model="h200"),
    "gpu-mi300x1-192gb": Size(vcpus=20, memory_mib=245760, gpus=1, brand="amd", model="mi300x"),
    "gpu-mi300x8-1536gb": Size(vcpus=160, memory_mib=1966080, gpus=8, brand="amd", model="mi300x"),
}
"""By slug."""

_FEATURES: Final = ("cluster-autoscaler", "docr-integration", "ha-control-plane", "token-authentication")


def options() -> dict[str, Any]:
    """What GET /v2/kubernetes/options shows."""
    return {
        "regions": [{"name": name, "slug": slug} for slug, name in REGIONS.items()],
        "sizes": [{"name": slug, "slug": slug} for slug in SIZES],
        "versions": [describe_version(slug) for slug in VERSIONS],
    }


def describe_version(slug: str) -> dict[str, Any]:
    """A version as lists show it."""
    return {
        "slug": slug,
        "kubernetes_version": slug.partition("-")[0],
        "supported_features": list(_FEATURES),
    }


def resolve_version(asked: object) -> str:
    """The slug of a version asked for: a slug, a minor version (`1.34`) or `latest`.

    Raises:
        Refusal: 422.
    """
    if asked == "latest":
        return VERSIONS[0]
    for slug in VERSIONS:
        if asked in (slug, ".".join(slug.split(".")[:2])):
            return slug
    raise invalid("invalid version slug")


def upgrades(version: str) -> tuple[str, ...]:
    """The slugs that a cluster of a version can be upgraded to: newer ones of its minor version or of the next."""
    return tuple(slug for slug in VERSIONS if _minor(slug) - _minor(version) in (0, 1) and _key(slug) > _key(version))


def _minor(slug: str) -> int:
    return int(slug.split(".")[1])


def _key(slug: str) -> tuple[int, ...]:
    version, _dash, release = slug.partition("-do.")
    return (*(int(part) for part in version.split(".")), int(release))
