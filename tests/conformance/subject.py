# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the cases need to know of a provider, and of the emulator that stands in for it.

`Subject` is what every subject has. What some providers cannot do, or need not say, is optional: a subject that has it
is asked more. A case about a method that a subject does not have is skipped by `subject.<method>`, as by a flag.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from typing import Protocol, runtime_checkable

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
    TIMED_OUT = "timed out"
    LOST_REPLY = "lost reply"


class Subject(Protocol):
    """A provider at which nothing exists yet."""

    @property
    def cluster(self) -> ClusterSpec:
        """A cluster that can be made there."""

    @property
    def node_pool(self) -> NodePoolSpec:
        """A node pool that can be made in it, of two nodes or more, with all that the provider knows: disk, zones.

        Where `nodes` counts per zone, as many in each of its zones.
        """

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
        """Break the nth call from now, counted from 1. A lost reply comes after the call's effect, the rest before.

        One that is timed out gets no answer and has no effect.
        """

    def edit(self, *, labels: Mapping[str, str], taints: Sequence[Taint]) -> None:
        """Somebody changes the node pool at the provider by hand: these are all its labels and taints afterwards."""

    def accepts(self, access: BootstrapAccess) -> bool:
        """Whether the cluster's API takes the access's token for an administrator's now."""

    def leftovers(self) -> Sequence[str]:
        """What exists at the provider, each in a word or two."""


@runtime_checkable
class GivesChangesUp(Protocol):
    """Optional: a provider that takes a change and may give it up afterwards."""

    def give_up_next_change(self) -> None:
        """The provider takes the next change of the node pool, and then gives it up: it is not allowed to make it."""


@runtime_checkable
class RunsOut(Protocol):
    """Optional: a provider that can have no machines left."""

    def run_out(self) -> None:
        """There are no more machines of the node pool's type."""

    def restock(self) -> None:
        """There are plenty again."""


@runtime_checkable
class ChangesInSteps(Protocol):
    """Optional: a provider that takes size, bounds, labels and taints one after the other. Without it, all at once."""

    @property
    def most_writes_of_a_change(self) -> int:
        """How many calls that change something it takes at most until a node pool is as it is wanted."""


@runtime_checkable
class Autoscales(Protocol):
    """Optional: a provider whose autoscaler can be made to act."""

    def autoscale(self, nodes: int) -> None:
        """The cluster's autoscaler moves the node pool's size, within its bounds, and the provider has noticed."""


class HidesAutoscaling(Protocol):
    """Optional: a provider that does not say what the autoscaler has made of a node pool's size."""

    @property
    def sees_autoscaling(self) -> bool:
        """False."""


@runtime_checkable
class Paged(Protocol):
    """Optional: a provider that lists node pools page by page. Without it, more than ours may be are made."""

    @property
    def node_pools_of_a_page(self) -> int:
        """How many there are at most on the pages that the driver asks for."""


@runtime_checkable
class HasOtherShapes(Protocol):
    """Optional: what else of a node pool cannot be changed at this provider."""

    @property
    def other_shapes(self) -> Sequence[NodePoolSpec]:
        """The node pool, each time with one such field changed."""


Case = Callable[[Subject], None]
"""What is asked of a subject at which nothing exists yet."""
