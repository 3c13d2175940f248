# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the API fills in by itself: so that comparing is tried on objects that hold more than was sent."""

from __future__ import annotations

from typing import Any

from .kinds import ADMISSION_BINDING, ADMISSION_POLICY, DAEMON_SET, NAMESPACE, Kind
from .objects import Object
from .schema import Items, StringMap, Struct

_TEMPLATE_GENERATION = "deprecated.daemonset.template.generation"
"""An annotation that the API still keeps."""


def fill(kind: Kind, obj: Object) -> None:
    """Set the defaults in place (Kubernetes 1.34's, for the fields of schema.py), and drop what means nothing."""
    if kind.schema is not None:
        _drop_empty(kind.schema, obj)
    if kind is NAMESPACE:
        obj["metadata"].setdefault("labels", {}).setdefault("kubernetes.io/metadata.name", obj["metadata"]["name"])
        obj.setdefault("spec", {"finalizers": ["kubernetes"]})
        obj.setdefault("status", {"phase": "Active"})
    elif kind is DAEMON_SET:
        _daemon_set(obj)
    elif kind is ADMISSION_BINDING:
        obj["metadata"].setdefault("generation", 1)
    elif kind is ADMISSION_POLICY:
        obj.setdefault("status", {})
        obj["metadata"].setdefault("generation", 1)
        spec = obj.setdefault("spec", {})
        spec.setdefault("failurePolicy", "Fail")
        constraints = spec.setdefault("matchConstraints", {})
        constraints.setdefault("matchPolicy", "Equivalent")
        constraints.setdefault("namespaceSelector", {})
        constraints.setdefault("objectSelector", {})
        for rule in constraints.get("resourceRules", []):
            rule.setdefault("scope", "*")


def _drop_empty(schema: Struct, obj: dict[str, Any]) -> None:
    """Take out empty maps of any keys and empty lists: the API's own types leave them out."""
    for key, below in schema.fields.items():
        value = obj.get(key)
        if isinstance(below, StringMap | Items) and value in ({}, []):
            del obj[key]
        elif isinstance(below, Struct) and isinstance(value, dict):
            _drop_empty(below, value)
        elif isinstance(below, Items) and isinstance(below.item, Struct) and value:
            for item in value:
                _drop_empty(below.item, item)


def count_change(kind: Kind, old: Object, new: Object) -> None:
    """Count a change of what a controller acts on, in place: in the generation, and a DaemonSet's template apart."""
    if "generation" in old["metadata"] and new["spec"] != old["spec"]:
        new["metadata"]["generation"] += 1
    if kind is DAEMON_SET and new["spec"]["template"] != old["spec"]["template"]:
        number = int(old["metadata"]["annotations"][_TEMPLATE_GENERATION]) + 1
        new["metadata"]["annotations"][_TEMPLATE_GENERATION] = str(number)


def _daemon_set(obj: Object) -> None:
    obj["metadata"].setdefault("generation", 1)
    obj["metadata"].setdefault("annotations", {}).setdefault(_TEMPLATE_GENERATION, "1")
    spec = obj.setdefault("spec", {})
    spec.setdefault("revisionHistoryLimit", 10)
    strategy = spec.setdefault("updateStrategy", {})
    strategy.setdefault("type", "RollingUpdate")
    rolling = strategy.setdefault("rollingUpdate", {})
    rolling.setdefault("maxUnavailable", 1)
    rolling.setdefault("maxSurge", 0)
    pod = spec.setdefault("template", {}).setdefault("spec", {})
    pod.setdefault("restartPolicy", "Always")
    pod.setdefault("dnsPolicy", "ClusterFirst")
    pod.setdefault("schedulerName", "default-scheduler")
    pod.setdefault("securityContext", {})
    pod.setdefault("terminationGracePeriodSeconds", 30)
    for container in [*pod.get("initContainers", []), *pod.get("containers", [])]:
        _container(container)
    for volume in pod.get("volumes", []):
        if not volume.keys() - {"name"}:
            volume["emptyDir"] = {}
        if "hostPath" in volume:
            volume["hostPath"].setdefault("type", "")
        if "secret" in volume:
            volume["secret"].setdefault("defaultMode", 0o644)
    none_yet = ("currentNumberScheduled", "desiredNumberScheduled", "numberMisscheduled", "numberReady")
    obj.setdefault("status", dict.fromkeys(none_yet, 0))


def _container(container: dict[str, Any]) -> None:
    image = str(container.get("image", ""))
    tag = image.rpartition("/")[2].partition(":")[2]
    container.setdefault("imagePullPolicy", "Always" if tag in ("", "latest") and "@" not in image else "IfNotPresent")
    container.setdefault("terminationMessagePath", "/dev/termination-log")
    container.setdefault("terminationMessagePolicy", "File")
    container.setdefault("resources", {})
    for variable in container.get("env", []):
        if "fieldRef" in variable.get("valueFrom", {}):
            variable["valueFrom"]["fieldRef"].setdefault("apiVersion", "v1")
