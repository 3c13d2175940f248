# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How EKS replaces the machines of a node group by those of another release ("Node group update phases", user guide).

First maximum and desired size rise by twice the number of zones, or by as many as may be unavailable at once if that is
more; then old machines end batch by batch once the new ones are Ready, and the group fills up with new ones; then the
size falls again. When new ones are not Ready in time, all is as it was, and the update says NodeCreationFailure.
"""

from __future__ import annotations

from dataclasses import dataclass

from . import instances, updates
from .failures import Failure
from .records import Instance, NodeGroup, Update
from .state import State


def begin(
    state: State, group: NodeGroup, update: Update, *, version: str, release: str, failure: Failure | None
) -> None:
    """Replace all machines, and end the update when that is done; or when the first is due, with the failure."""
    roll = _Roll(state=state, group=group, update=update, version=version, release=release)

    def start() -> None:
        if failure is not None:
            updates.end(group, update, failure)
        else:
            roll.scale_up()

    state.after(state.timings.node_group_update, kind="update-node-group", target=group.arn, finish=start)


@dataclass(slots=True, kw_only=True)
class _Roll:
    """One replacement; `waited_seconds` for the new machines of the present batch."""

    state: State
    group: NodeGroup
    update: Update
    version: str
    release: str
    waited_seconds: float = 0.0

    def scale_up(self) -> None:
        group = self.group
        if not self._old() and not group.missing:
            self._finish()
            return
        group.rolling_to = self.release
        group.surge = max(2 * len(group.zones), _unavailable(group))
        instances.adjust(self.state, group)
        self._look_again()

    def look(self) -> None:
        group = self.group
        instances.adjust(self.state, group)
        if group.missing > 0 or not all(instance.ready for instance in self._new().values()):
            self.waited_seconds += self.state.timings.node_group_roll
            if self.waited_seconds >= self.state.timings.node_wait:
                self._give_up()
            else:
                self._look_again()
            return
        self.waited_seconds = 0.0
        old = list(self._old())
        if not old:
            self._finish()
            return
        for instance_id in old[: _unavailable(group)]:
            instances.end(self.state, group, instance_id)
        instances.adjust(self.state, group)
        self._look_again()

    def _look_again(self) -> None:
        timings, group = self.state.timings, self.group
        self.state.after(timings.node_group_roll, kind="replace-machines", target=group.arn, finish=self.look)

    def _finish(self) -> None:
        group = self.group
        group.version, group.release = self.version, self.release
        group.modified_at = self.state.engine.clock.now()
        self._settle()

    def _give_up(self) -> None:
        new = list(self._new())
        for instance_id in new:
            instances.end(self.state, self.group, instance_id)
        self._settle(
            Failure(
                code="NodeCreationFailure",
                message="Couldn't proceed with upgrade process as new nodes are not joining node group "
                f"{self.group.auto_scaling_group}",
                resource_ids=tuple(new),
            )
        )

    def _settle(self, failure: Failure | None = None) -> None:
        group = self.group
        group.rolling_to = None
        group.surge = 0
        updates.end(group, self.update, failure)
        instances.adjust(self.state, group)
        instances.keep_trying(self.state, group)

    def _old(self) -> dict[str, Instance]:
        return {key: one for key, one in self.group.instances.items() if one.release != self.release}

    def _new(self) -> dict[str, Instance]:
        return {key: one for key, one in self.group.instances.items() if one.release == self.release}


def _unavailable(group: NodeGroup) -> int:
    """How many machines may be replaced at a time; a percentage counts at least one."""
    share: int = group.update_config.get("maxUnavailablePercentage", 0)
    number: int = group.update_config.get("maxUnavailable", 1)
    return max(1, group.desired * share // 100) if share else number
