# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The Auto Scaling groups behind node groups, for whoever goes past EKS, which sees late what is done to them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC
from uuid import uuid4

from ..errors import AwsError
from . import instances
from .records import Document, NodeGroup
from .state import State


class AutoScalingGroups:
    """All of them. Thread-safe."""

    def __init__(self, state: State) -> None:
        """Those of the node groups that exist."""
        self._state = state

    def describe(self, names: Sequence[str]) -> list[Document]:
        """DescribeAutoScalingGroups: the named ones that exist, or all, in one page."""
        with self._state.changing():
            return [_describe(group) for group in self._groups() if not names or group.auto_scaling_group in names]

    def set_desired(self, name: str, desired: int) -> None:
        """SetDesiredCapacity.

        Raises:
            AwsError: 400 ValidationError: there is no such group, or the size is outside its bounds.
        """
        with self._state.changing():
            group = next((group for group in self._groups() if group.auto_scaling_group == name), None)
            if group is None:
                raise _invalid(f"AutoScalingGroup name not found - AutoScalingGroup: {name} not found")
            set_desired(self._state, group, desired)

    def terminate(self, instance_id: str, *, decrement: bool) -> Document:
        """TerminateInstanceInAutoScalingGroup: one machine ends, and another comes unless there is to be one less.

        Returns:
            The activity.

        Raises:
            AwsError: 400 ValidationError: there is no such instance, or there are to be no fewer.
        """
        with self._state.changing():
            group = next((group for group in self._groups() if instance_id in group.instances), None)
            if group is None:
                raise _invalid(f"Instance Id not found - No managed instance found for instance ID: {instance_id}")
            _terminate(self._state, group, instance_id, decrement=decrement)
            return {
                "ActivityId": str(uuid4()),
                "AutoScalingGroupName": group.auto_scaling_group,
                "Cause": "instance was taken out of service in response to a user request.",
                "StartTime": self._state.engine.clock.now().astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
                "StatusCode": "InProgress",
            }

    def _groups(self) -> list[NodeGroup]:
        return [group for cluster in self._state.clusters.values() for group in cluster.node_groups.values()]


def set_desired(state: State, group: NodeGroup, desired: int) -> None:
    """Set the desired capacity: the machines follow at once, EKS's desiredSize after a while.

    Raises:
        AwsError: 400 ValidationError: outside the bounds.
    """
    low, high = group.scaling["minSize"], group.scaling["maxSize"]
    if desired > high:
        raise _invalid(f"New SetDesiredCapacity value {desired} is above max value {high} for the AutoScalingGroup.")
    if desired < low:
        raise _invalid(f"New SetDesiredCapacity value {desired} is below min value {low} for the AutoScalingGroup.")
    _change(state, group, desired)


def _terminate(state: State, group: NodeGroup, instance_id: str, *, decrement: bool) -> None:
    if not decrement:
        instances.lose(state, group, instance_id)
        return
    low = group.scaling["minSize"]
    if group.desired <= low:
        raise _invalid(
            f"Currently, desiredSize equals minSize ({low}). Terminating instance without replacement will violate "
            "group's min size constraint. Either set shouldDecrementDesiredCapacity flag to false or lower group's min "
            "size."
        )
    instances.end(state, group, instance_id)
    _change(state, group, group.desired - 1)


def _change(state: State, group: NodeGroup, desired: int) -> None:
    group.desired = desired
    instances.follow(state, group)

    def show() -> None:
        group.scaling["desiredSize"] = group.desired

    state.after(state.timings.desired_follows, kind="show-desired-size", target=group.arn, finish=show)


def _describe(group: NodeGroup) -> Document:
    return {
        "AutoScalingGroupName": group.auto_scaling_group,
        "MinSize": group.scaling["minSize"],
        "MaxSize": group.scaling["maxSize"] + group.surge,
        "DesiredCapacity": group.desired + group.surge,
        "DefaultCooldown": 300,
        "HealthCheckType": "EC2",
        "CreatedTime": group.created_at.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "AvailabilityZones": list(group.zones),
        "VPCZoneIdentifier": ",".join(group.subnets),
        "NewInstancesProtectedFromScaleIn": False,
        "Instances": [
            {
                "InstanceId": instance_id,
                "InstanceType": instance.machine.instance_type,
                "AvailabilityZone": instance.machine.zone,
                "LifecycleState": "InService",
                "HealthStatus": "Healthy",
                "ProtectedFromScaleIn": False,
            }
            for instance_id, instance in group.instances.items()
        ],
        "Tags": [
            {
                "ResourceId": group.auto_scaling_group,
                "ResourceType": "auto-scaling-group",
                "Key": key,
                "Value": value,
                "PropagateAtLaunch": True,
            }
            for key, value in (("eks:cluster-name", group.cluster), ("eks:nodegroup-name", group.name))
        ],
    }


def _invalid(message: str) -> AwsError:
    return AwsError(400, "ValidationError", message)
