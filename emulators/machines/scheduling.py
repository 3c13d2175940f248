# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which DaemonSets have a pod on a Node, as the DaemonSet controller and the scheduler decide it. Pure.

Known are nodeSelector, and tolerations against the Node's taints. Affinity, resources and rollout limits are not: a
changed DaemonSet replaces its pods on all machines at once.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Object = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class PodSpec:
    """A pod that a DaemonSet wants on one Node.

    Attributes:
        key: names DaemonSet and template: another template, another pod.
        namespace: the pod's.
        daemon_set: the DaemonSet's name.
        spec: the template's pod spec.
    """

    key: str
    namespace: str
    daemon_set: str
    spec: Object


def wanted_pods(
    daemon_sets: Iterable[Object], *, labels: Mapping[str, str], taints: Sequence[Mapping[str, str]]
) -> dict[str, PodSpec]:
    """The pods that a Node is to run, by key.

    Arguments:
        daemon_sets: all of the cluster's.
        labels, taints: the Node's.
    """
    pods = {}
    for daemon_set in daemon_sets:
        template = daemon_set["spec"]["template"]
        selector = template["spec"].get("nodeSelector") or {}
        tolerations = template["spec"].get("tolerations") or []
        if selector.items() <= labels.items() and all(_tolerated(taint, tolerations) for taint in taints):
            pod = _pod(daemon_set)
            pods[pod.key] = pod
    return pods


def _pod(daemon_set: Object) -> PodSpec:
    metadata, template = daemon_set["metadata"], daemon_set["spec"]["template"]
    digest = hashlib.sha256(json.dumps(template, sort_keys=True).encode()).hexdigest()
    return PodSpec(
        key=f"{metadata['uid']}/{digest}",
        namespace=metadata["namespace"],
        daemon_set=metadata["name"],
        spec=template["spec"],
    )


def _tolerated(taint: Mapping[str, str], tolerations: Iterable[Mapping[str, str]]) -> bool:
    """Whether one of the tolerations covers the taint. A PreferNoSchedule taint keeps nobody away."""
    return taint.get("effect") == "PreferNoSchedule" or any(_covers(toleration, taint) for toleration in tolerations)


def _covers(toleration: Mapping[str, str], taint: Mapping[str, str]) -> bool:
    if toleration.get("effect") and toleration["effect"] != taint.get("effect"):
        return False
    if not toleration.get("key"):
        return toleration.get("operator") == "Exists"
    if toleration["key"] != taint.get("key"):
        return False
    return toleration.get("operator") == "Exists" or toleration.get("value", "") == taint.get("value", "")
