# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What can be done to the Auto Scaling group behind a node group past EKS, which sees it late."""

from __future__ import annotations

from ..errors import AwsError
from . import instances
from .records import NodeGroup
from .state import State


def set_desired(state: State, group: NodeGroup, desired: int) -> None:
    """SetDesiredCapacity: the machines follow at once, EKS's desiredSize after a while.

    Raises:
        AwsError: 400 ValidationError: outside the bounds.
    """
    low, high = group.scaling["minSize"], group.scaling["maxSize"]
    if desired > high:
        raise _invalid(f"New SetDesiredCapacity value {desired} is above max value {high} for the AutoScalingGroup.")
    if desired < low:
        raise _invalid(f"New SetDesiredCapacity value {desired} is below min value {low} for the AutoScalingGroup.")
    _change(state, group, desired)


def terminate(state: State, group: NodeGroup, instance_id: str, *, decrement: bool) -> None:
    """TerminateInstanceInAutoScalingGroup: one machine ends, and another comes unless there is to be one less.

    Raises:
        AwsError: 400 ValidationError: there are to be no fewer.
    """
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


def _invalid(message: str) -> AwsError:
    return AwsError(400, "ValidationError", message)
