# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the real API refuses as invalid (422), for the kinds and fields that the product sends."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from .kinds import (
    ADMISSION_BINDING,
    ADMISSION_POLICY,
    CLUSTER_ROLE,
    CLUSTER_ROLE_BINDING,
    CONFIG_MAP,
    DAEMON_SET,
    NAMESPACE,
    ROLE_BINDING,
    SECRET,
    Kind,
)
from .objects import Object
from .statuses import invalid

_DNS_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?", re.ASCII)
_DNS_NAME = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*", re.ASCII)
_LABEL_VALUE = re.compile(r"([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?", re.ASCII)
_LABEL_KEY = re.compile(
    r"([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?", re.ASCII
)
_DATA_KEY = re.compile(r"[-._a-zA-Z0-9]{1,253}", re.ASCII)
_PATH_SEGMENT = re.compile(r"(?!\.\.?$)[^/%]+")
_RBAC_KINDS = (CLUSTER_ROLE, CLUSTER_ROLE_BINDING, ROLE_BINDING)
_BINDINGS = (CLUSTER_ROLE_BINDING, ROLE_BINDING)
_PERCENT_OR_NUMBER = re.compile(r"[0-9]+%", re.ASCII)

_MAXIMUM_DATA_BYTES = 1024 * 1024

Problem = tuple[str, str]


def validate(kind: Kind, obj: Object) -> None:
    """Look at an object that is to be stored.

    Raises:
        ApiRefusal: 422 with every problem.
    """
    problems = list(_metadata_problems(kind, obj["metadata"]))
    if kind in (CONFIG_MAP, SECRET):
        problems += _data_problems(obj)
    elif kind is DAEMON_SET:
        problems += _daemon_set_problems(obj.get("spec") or {})
    elif kind in _BINDINGS:
        problems += _binding_problems(kind, obj)
    elif kind is CLUSTER_ROLE:
        problems += _role_problems(obj)
    elif kind is ADMISSION_POLICY:
        problems += _admission_policy_problems(obj.get("spec") or {})
    elif kind is ADMISSION_BINDING:
        problems += _admission_binding_problems(obj.get("spec") or {})
    if problems:
        raise invalid(kind.title, obj["metadata"]["name"], problems)


def validate_change(kind: Kind, old: Object, new: Object) -> None:
    """Look at what must not change.

    Raises:
        ApiRefusal: 422 with every field that is immutable.
    """
    problems = []
    if kind is DAEMON_SET and old["spec"].get("selector") != new["spec"].get("selector"):
        problems.append(("spec.selector", "Invalid value: field is immutable"))
    if kind is SECRET and old.get("type") != new.get("type"):
        problems.append(("type", "Invalid value: field is immutable"))
    if kind in _BINDINGS and old.get("roleRef") != new.get("roleRef"):
        problems.append(("roleRef", "Invalid value: cannot change roleRef"))
    if problems:
        raise invalid(kind.title, new["metadata"]["name"], problems)


def is_label(key: str, value: str) -> bool:
    """Whether this may be a label."""
    return bool(_LABEL_KEY.fullmatch(key) and _LABEL_VALUE.fullmatch(value))


def _metadata_problems(kind: Kind, metadata: dict[str, Any]) -> Iterator[Problem]:
    pattern = _DNS_LABEL if kind is NAMESPACE else _PATH_SEGMENT if kind in _RBAC_KINDS else _DNS_NAME
    if not pattern.fullmatch(metadata["name"]) or len(metadata["name"]) > 253:
        yield "metadata.name", f'Invalid value: "{metadata["name"]}": not an RFC 1123 name'
    yield from _label_problems("metadata.labels", metadata.get("labels") or {})
    for key in metadata.get("annotations") or {}:
        if not _LABEL_KEY.fullmatch(key):
            yield "metadata.annotations", f'Invalid value: "{key}": not a qualified name'


def _label_problems(field: str, labels: dict[str, str]) -> Iterator[Problem]:
    for key, value in labels.items():
        if not _LABEL_KEY.fullmatch(key):
            yield field, f'Invalid value: "{key}": not a qualified name'
        if not _LABEL_VALUE.fullmatch(value):
            yield field, f'Invalid value: "{value}": a valid label must be an empty string or consist of …'


def _data_problems(obj: Object) -> Iterator[Problem]:
    if sum(len(value) for value in (obj.get("data") or {}).values()) > _MAXIMUM_DATA_BYTES:
        yield "[]", f"Too long: may not be more than {_MAXIMUM_DATA_BYTES} bytes"
    for key in obj.get("data") or {}:
        if not _DATA_KEY.fullmatch(key):
            yield f"data[{key}]", "Invalid value: a valid config key must consist of alphanumeric characters, -, _ or ."


def _binding_problems(kind: Kind, obj: Object) -> Iterator[Problem]:
    reference = obj.get("roleRef") or {}
    if reference.get("apiGroup") != "rbac.authorization.k8s.io":
        yield "roleRef.apiGroup", 'Unsupported value: supported values: "rbac.authorization.k8s.io"'
    if reference.get("kind") not in ("ClusterRole", "Role"):
        yield "roleRef.kind", 'Unsupported value: supported values: "ClusterRole", "Role"'
    if not reference.get("name"):
        yield "roleRef.name", "Required value"
    for index, subject in enumerate(obj.get("subjects", [])):
        if not subject.get("name"):
            yield f"subjects[{index}].name", "Required value"
        # In a namespace, its own is meant.
        if kind is CLUSTER_ROLE_BINDING and subject.get("kind") == "ServiceAccount" and not subject.get("namespace"):
            yield f"subjects[{index}].namespace", "Required value"


def _role_problems(obj: Object) -> Iterator[Problem]:
    for index, rule in enumerate(obj.get("rules") or []):
        for field in ("verbs", "apiGroups", "resources"):
            if not rule.get(field):
                yield f"rules[{index}].{field}", "Required value"
    if "aggregationRule" in obj and not obj["aggregationRule"].get("clusterRoleSelectors"):
        yield "aggregationRule.clusterRoleSelectors", "Required value: at least one clusterRoleSelector required"


def _admission_policy_problems(spec: dict[str, Any]) -> Iterator[Problem]:
    if spec.get("failurePolicy") not in ("Fail", "Ignore"):
        yield "spec.failurePolicy", 'Unsupported value: supported values: "Fail", "Ignore"'
    if not (spec.get("matchConstraints") or {}).get("resourceRules"):
        yield "spec.matchConstraints.resourceRules", "Required value"
    for index, rule in enumerate((spec.get("matchConstraints") or {}).get("resourceRules", [])):
        for field in ("apiGroups", "apiVersions", "operations", "resources"):
            if not rule.get(field):
                yield f"spec.matchConstraints.resourceRules[{index}].{field}", "Required value"
    for group, needed in (("matchConditions", ("name", "expression")), ("validations", ("expression",))):
        for index, one in enumerate(spec.get(group, [])):
            for field in needed:
                if not one.get(field):
                    yield f"spec.{group}[{index}].{field}", "Required value"
    if not spec.get("validations"):
        yield "spec.validations", "Required value: validations or auditAnnotations must contain at least one item"


def _admission_binding_problems(spec: dict[str, Any]) -> Iterator[Problem]:
    if not spec.get("policyName"):
        yield "spec.policyName", "Required value"
    actions = spec.get("validationActions", [])
    if not actions or set(actions) - {"Deny", "Warn", "Audit"}:
        yield "spec.validationActions", 'Unsupported value: supported values: "Audit", "Deny", "Warn"'
    if {"Deny", "Warn"} <= set(actions):
        yield (
            "spec.validationActions",
            "Invalid value: must not contain both Deny and Warn",
        )


def _daemon_set_problems(spec: dict[str, Any]) -> Iterator[Problem]:
    template = spec.get("template") or {}
    selector = (spec.get("selector") or {}).get("matchLabels") or {}
    labels = (template.get("metadata") or {}).get("labels") or {}
    if "selector" in spec and not selector:
        yield "spec.selector", "Invalid value: empty selector is invalid for daemonset"
    if "selector" not in spec or not selector.items() <= labels.items():
        yield "spec.template.metadata.labels", "Invalid value: `selector` does not match template `labels`"
    yield from _label_problems("spec.template.labels", labels)
    yield from _strategy_problems(spec.get("updateStrategy") or {})
    yield from _pod_problems(template.get("spec") or {})


def _strategy_problems(strategy: dict[str, Any]) -> Iterator[Problem]:
    at = "spec.updateStrategy"
    if strategy.get("type") != "RollingUpdate":
        yield at, 'Unsupported value: supported values: "RollingUpdate", "OnDelete"'
        return
    unavailable = (strategy.get("rollingUpdate") or {}).get("maxUnavailable", 1)
    if isinstance(unavailable, str) and not _PERCENT_OR_NUMBER.fullmatch(unavailable):
        yield f"{at}.rollingUpdate.maxUnavailable", f'Invalid value: "{unavailable}": not a percentage'
        unavailable = 0
    if unavailable in (0, "0%"):
        yield f"{at}.rollingUpdate.maxUnavailable", "Required value: cannot be 0 when maxSurge is 0"


def _pod_problems(pod: dict[str, Any]) -> Iterator[Problem]:
    at = "spec.template.spec"
    volumes = {volume.get("name") for volume in pod.get("volumes", [])}
    for index, volume in enumerate(pod.get("volumes", [])):
        if "hostPath" in volume and "secret" in volume:
            yield f"{at}.volumes[{index}].secret", "Forbidden: may not specify more than 1 volume type"
        if "hostPath" in volume and not volume["hostPath"].get("path"):
            yield f"{at}.volumes[{index}].hostPath.path", "Required value"
        if "secret" in volume and not volume["secret"].get("secretName"):
            yield f"{at}.volumes[{index}].secret.secretName", "Required value"
    if not pod.get("containers"):
        yield f"{at}.containers", "Required value"
    runtime_class = pod.get("runtimeClassName")
    if runtime_class is not None and not _DNS_NAME.fullmatch(runtime_class):
        yield f"{at}.runtimeClassName", f'Invalid value: "{runtime_class}": not an RFC 1123 name'
    for index, toleration in enumerate(pod.get("tolerations", [])):
        if not toleration.get("key") and toleration.get("operator") != "Exists":
            yield f"{at}.tolerations[{index}].operator", "Invalid value: operator must be Exists when `key` is empty"
    yield from _label_problems(f"{at}.nodeSelector", pod.get("nodeSelector") or {})
    names: set[str] = set()
    for group in ("initContainers", "containers"):
        for index, container in enumerate(pod.get(group, [])):
            name = container.get("name", "")
            if name in names:
                yield f"{at}.{group}[{index}].name", f'Duplicate value: "{name}"'
            names.add(name)
            yield from _container_problems(f"{at}.{group}[{index}]", container, volumes)


def _container_problems(at: str, container: dict[str, Any], volumes: set[str]) -> Iterator[Problem]:
    if not container.get("name"):
        yield f"{at}.name", "Required value"
    elif not _DNS_LABEL.fullmatch(container["name"]):
        yield f"{at}.name", "Invalid value: not an RFC 1123 label"
    if not container.get("image"):
        yield f"{at}.image", "Required value"
    for index, mount in enumerate(container.get("volumeMounts", [])):
        if mount.get("name") not in volumes:
            yield f"{at}.volumeMounts[{index}].name", f'Not found: "{mount.get("name")}"'
        if not mount.get("mountPath"):
            yield f"{at}.volumeMounts[{index}].mountPath", "Required value"
    for index, variable in enumerate(container.get("env", [])):
        if not variable.get("name"):
            yield f"{at}.env[{index}].name", "Required value"
        if "value" in variable and "valueFrom" in variable:
            yield f"{at}.env[{index}].valueFrom", "Invalid value: may not be specified when `value` is not empty"
