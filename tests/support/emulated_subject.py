# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the conformance cases' subjects have in common where the provider is an emulator on virtual time."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import ClassVar

from ansible_collections.better_compute.fleet.emulators.engine import Engine, Error, Hook, LostReply, VirtualClock
from ansible_collections.better_compute.fleet.emulators.engine.answers import Call, ReplyLost
from ansible_collections.better_compute.fleet.emulators.stand_ins import InstantMachines
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.ids import ClusterId, PoolId
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.labels import owner_tags
from ansible_collections.better_compute.fleet.tests.conformance.subject import Breakage

POOL = PoolId("pool_01kb5c0000000000000000000a")
TAGS = owner_tags(cluster_id=ClusterId("kcl_01kb5c0000000000000000000a"), pool_id=POOL)
NAME = "bc-01kb5c0000000000000000000a"

_AN_HOUR_SECONDS = 3600
"""Longer than anything at a provider takes, also what it gives up after a while."""


def _no_answer(call: Call) -> None:
    """Drop the connection before anything happens: as a time-out, without the wait for it."""
    raise ReplyLost(call.name)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class EmulatedSubject:
    """The part of subject.Subject that is alike.

    Attributes:
        emulated: the emulator's name in the request log and the inventory.
        throttled, broken: the provider's own words for too many calls, and for a fault of its own.
        waits: what the drivers waited for throttling, in seconds.
    """

    emulated: ClassVar[str]
    throttled: ClassVar[Error]
    broken: ClassVar[Error]

    engine: Engine
    clock: VirtualClock
    machines: InstantMachines
    waits: list[float] = dataclasses.field(default_factory=list)

    def settle(self) -> None:
        """Let an hour pass."""
        self.clock.advance(_AN_HOUR_SECONDS)

    def calls(self) -> int:
        """Requests to the emulator."""
        return len(self.engine.log.entries(cloud=self.emulated))

    def writes(self) -> int:
        """Mutating requests that it carried out."""
        return len(self.engine.log.writes())

    def break_call(self, nth: int, breakage: Breakage) -> None:
        """Script the fault."""
        actions: Mapping[Breakage, LostReply | Error | Hook] = {
            Breakage.LOST_REPLY: LostReply(),
            Breakage.THROTTLED: self.throttled,
            Breakage.SERVER_ERROR: self.broken,
            Breakage.TIMED_OUT: Hook(on_before=_no_answer),
        }
        self.engine.faults.add(self.emulated, "*", actions[breakage], nth=nth)

    def leftovers(self) -> Sequence[str]:
        """The emulator's inventory."""
        return [f"{item.kind} {item.id}" for item in self.engine.inventory.items(cloud=self.emulated)]
