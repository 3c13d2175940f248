# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the cases need to know of a provider, and of the emulator that stands in for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from typing import Protocol

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.declared import Taint
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.observed import BootstrapAccess
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.contract import (
    ClusterSpec,
    Driver,
    NodePoolSpec,
)


class Breakage(StrEnum):
    """What goes wrong at one call to the provider."""

    THROTTLED = "throttled"
    SERVER_ERROR = "server error"
    LOST_REPLY = "lost reply"


class Subject(Protocol):
    """A provider at which nothing exists yet."""

    @property
    def cluster(self) -> ClusterSpec:
        """A cluster that can be made there."""

    @property
    def node_pool(self) -> NodePoolSpec:
        """A node pool that can be made in it, of two nodes or more, with all that the provider knows: disk, zones."""

    @property
    def other_machine_type(self) -> str:
        """Another machine type than the node pool's."""

    @property
    def versions(self) -> tuple[str, str, str]:
        """Three Kubernetes versions that clusters can have, each one step after the other, the oldest first."""

    def open(self) -> Driver:
        """A fresh driver, as another process would have it, that waits in no time when it is throttled."""

    def settle(self) -> None:
        """Let everything that goes on at the provider come to its end."""

    def calls(self) -> int:
        """How many calls the provider has got so far."""

    def writes(self) -> int:
        """How many of them changed something there."""

    def break_call(self, nth: int, breakage: Breakage) -> None:
        """Break the nth call from now, counted from 1. A lost reply comes after the call's effect, the rest before."""

    def autoscale(self, nodes: int) -> None:
        """The cluster's autoscaler moves the node pool's size, within its bounds, and the provider says so."""

    def edit(self, *, labels: Mapping[str, str], taints: Sequence[Taint]) -> None:
        """Somebody changes the node pool at the provider by hand: these are all its labels and taints afterwards."""

    def give_up_next_change(self) -> None:
        """The provider takes the next change of the node pool, and then gives it up: it is not allowed to make it."""

    def accepts(self, access: BootstrapAccess) -> bool:
        """Whether the cluster's API takes the access's token for an administrator's now."""

    def leftovers(self) -> Sequence[str]:
        """What exists at the provider, each in a word or two."""


Case = Callable[[Subject], None]
"""What is asked of a subject at which nothing exists yet."""
