# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What of a node group can be changed in place: size, labels, taints, and how its machines are replaced."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from ..errors import AwsError, invalid_parameter
from . import constraints, instances, updates
from .records import Document, NodeGroup, Update
from .state import Asked, State

_BLOCKS: Final = ("labels", "scalingConfig", "taints", "updateConfig")
_NOT_EMULATED: Final = ("nodeRepairConfig", "warmPoolConfig")

Taint = dict[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What is to become of a node group.

    Attributes:
        scaling: those of minSize, maxSize and desiredSize that change.
        set_labels: labels that are added or get another value.
        drop_labels: keys of labels that go.
        set_taints: taints that are added or get another value: key and effect say which one.
        drop_taints: taints that go.
        update_config: how machines are replaced from now on; None leaves it.
    """

    scaling: Mapping[str, int] = field(default_factory=dict)
    set_labels: Mapping[str, str] = field(default_factory=dict)
    drop_labels: Sequence[str] = ()
    set_taints: Sequence[Taint] = ()
    drop_taints: Sequence[Taint] = ()
    update_config: Document | None = None

    def labels(self, standing: Mapping[str, str]) -> dict[str, str]:
        """The labels afterwards."""
        kept = {key: value for key, value in standing.items() if key not in self.drop_labels}
        return {**kept, **self.set_labels}

    def taints(self, standing: Sequence[Taint]) -> list[Taint]:
        """The taints afterwards."""
        after = {_identity(taint): taint for taint in standing}
        for taint in self.drop_taints:
            after.pop(_identity(taint), None)
        after.update({_identity(taint): taint for taint in self.set_taints})
        return list(after.values())

    def params(self) -> dict[str, str]:
        """What the update says of itself, in the words of the API's model."""
        config = self.update_config or {}
        said: dict[str, Any] = {
            "LabelsToAdd": dict(self.set_labels),
            "LabelsToRemove": list(self.drop_labels),
            "TaintsToAdd": list(self.set_taints),
            "TaintsToRemove": list(self.drop_taints),
        }
        numbers = {**self.scaling, **config}
        return {
            **{_parameter_type(name): str(value) for name, value in sorted(numbers.items())},
            **{name: json.dumps(value) for name, value in said.items() if value},
        }


def update(state: State, asked: Asked) -> Document:
    """UpdateNodegroupConfig."""
    group = state.node_group(asked["clusterName"], asked["nodegroupName"])
    made: list[Update] = []

    def current() -> Document | None:
        return {"update": made[0].describe()}

    def do() -> Document:
        change = _asked_for(asked, clusterName=group.cluster, nodegroupName=group.name)
        check(group, change)
        made.append(_begin(state, group, change))
        return {"update": made[0].describe()}

    return state.once(f"UpdateNodegroupConfig {group.uuid}", asked, current=current, do=do)


def check(group: NodeGroup, change: Change) -> None:
    """Refuse a change that leads to a node group that cannot be."""
    constraints.check_scaling({**group.scaling, **change.scaling})
    constraints.check_labels(change.set_labels)
    constraints.check_taints(change.taints(group.taints))
    if change.update_config is not None:
        constraints.check_update_config(change.update_config)


def apply(state: State, group: NodeGroup, change: Change) -> None:
    """Make the change, now: the machines follow, and the Nodes that stand get labels and taints, too."""
    group.scaling = {**group.scaling, **change.scaling}
    low, high = group.scaling["minSize"], group.scaling["maxSize"]
    # The Auto Scaling group keeps its own desired capacity, which the autoscaler may have moved, within new bounds.
    group.desired = min(max(change.scaling.get("desiredSize", group.desired), low), high)
    group.scaling["desiredSize"] = group.desired
    group.labels = change.labels(group.labels)
    group.taints = change.taints(group.taints)
    if change.update_config is not None:
        group.update_config = change.update_config
    group.modified_at = state.engine.clock.now()
    instances.relabel(state, group)


def _begin(state: State, group: NodeGroup, change: Change) -> Update:
    begun = updates.of_node_group(state, group, kind="ConfigUpdate", params=change.params())
    failure = state.failures.take("update", f"{group.cluster}/{group.name}")

    def finish() -> None:
        updates.end(group, begun, failure)
        if failure is None:
            apply(state, group, change)
            instances.adjust(state, group)
            instances.keep_trying(state, group)

    state.after(state.timings.node_group_update, kind="update-node-group", target=group.arn, finish=finish)
    return begun


def _asked_for(asked: Asked, **about: str) -> Change:
    for name in _NOT_EMULATED:
        if asked.get(name) is not None:
            raise AwsError(501, "NotImplementedException", f"The emulator does not update {name}.", **about)
    blocks = {name: asked[name] for name in _BLOCKS if asked.get(name) is not None}
    empty = [name for name, block in blocks.items() if not any(_says_something(value) for value in block.values())]
    if empty or not blocks:
        raise invalid_parameter(f"No changes were provided in {', '.join(empty) or 'the request'}.", **about)
    labels, taints = blocks.get("labels", {}), blocks.get("taints", {})
    return Change(
        scaling={name: size for name, size in blocks.get("scalingConfig", {}).items() if size is not None},
        set_labels=labels.get("addOrUpdateLabels") or {},
        drop_labels=labels.get("removeLabels") or (),
        set_taints=taints.get("addOrUpdateTaints") or (),
        drop_taints=taints.get("removeTaints") or (),
        update_config=blocks.get("updateConfig"),
    )


def _says_something(value: object) -> bool:
    return value not in (None, {}, [])


def _identity(taint: Taint) -> tuple[str, str]:
    """What makes it the same taint to Kubernetes, whatever its value."""
    return taint.get("key", ""), taint.get("effect", "")


def _parameter_type(name: str) -> str:
    return name[0].upper() + name[1:]
