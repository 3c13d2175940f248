# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The Kubernetes versions that GKE offers, and what may follow what."""

from __future__ import annotations

from typing import Final

from .errors import GcpError, invalid

VERSIONS: Final = (
    "1.32.9-gke.1108000",
    "1.33.5-gke.1201000",
    "1.33.5-gke.1308000",
    "1.34.9-gke.1029000",
    "1.35.2-gke.1485000",
)
"""Oldest first."""

DEFAULT: Final = "1.34.9-gke.1029000"
"""What a cluster gets that names none (channel REGULAR)."""

_NODE_SKEW: Final = 2
"""By how many minors nodes may be older than the control plane (GKE's version skew policy)."""


def resolve(asked: str, *, default: str = DEFAULT) -> str:
    """The version that is meant: `-` or none is the default, `1.34` and `1.34.9` the newest of it.

    Raises:
        GcpError: there is none.
    """
    if asked in ("", "-"):
        return default
    if asked == "latest":
        return VERSIONS[-1]
    for version in reversed(VERSIONS):
        if version == asked or version.startswith((f"{asked}.", f"{asked}-gke.")):
            return version
    raise unsupported("Master", asked)


def unsupported(what: str, version: str) -> GcpError:
    """400: GKE does not offer it."""
    return invalid(f'{what} version "{version}" is unsupported.')


def check_upgrade(current: str, wanted: str) -> None:
    """Refuse to skip a minor or to go back one.

    Raises:
        GcpError: 400.
    """
    step = _minor(wanted) - _minor(current)
    if step > 1 or step < 0:
        raise invalid(
            f'Master cannot be upgraded to "{wanted}": cannot upgrade from {current} by {step} minor versions.'
        )


def check_nodes(version: str, *, master: str) -> None:
    """Refuse nodes that are newer than the control plane, or too old for it.

    Raises:
        GcpError: 400.
    """
    if _order(version) > _order(master):
        raise invalid(f'Node version "{version}" must not be greater than master version "{master}".')
    if _minor(master) - _minor(version) > _NODE_SKEW:
        raise invalid(f'Node version "{version}" is too old for master version "{master}".')


def _minor(version: str) -> int:
    return int(version.split(".")[1])


def _order(version: str) -> int:
    return VERSIONS.index(version)
