# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A container's environment as the kubelet makes it, and its paths as they are without a mount namespace. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

Object = Mapping[str, Any]


class CannotStart(Exception):
    """The container cannot be made yet: what it refers to is not there. The kubelet tries again."""


def resolve(
    container: Object, *, read_config_map: Callable[[str], Object | None], fields: Mapping[str, str]
) -> dict[str, str]:
    """The environment that a container's `env` describes.

    Arguments:
        container: of the pod spec.
        read_config_map: the ConfigMap of that name in the pod's namespace.
        fields: what a fieldRef may name, e.g. `spec.nodeName`.

    Raises:
        CannotStart: a ConfigMap, key or field that is not optional is missing.
    """
    environ = {}
    for entry in container.get("env") or []:
        value = _value(entry, read_config_map=read_config_map, fields=fields)
        if value is not None:
            environ[entry["name"]] = value
    return environ


def _value(entry: Object, *, read_config_map: Callable[[str], Object | None], fields: Mapping[str, str]) -> str | None:
    source = entry.get("valueFrom")
    if not source:
        return str(entry.get("value", ""))
    if "fieldRef" in source:
        path = source["fieldRef"]["fieldPath"]
        if path not in fields:
            raise CannotStart(f"{entry['name']}: no field {path} here")
        return fields[path]
    if "configMapKeyRef" not in source:
        raise CannotStart(f"{entry['name']}: no machine here knows {', '.join(source)}")
    reference = source["configMapKeyRef"]
    data = (read_config_map(reference["name"]) or {}).get("data") or {}
    if reference["key"] in data:
        return str(data[reference["key"]])
    if reference.get("optional"):
        return None
    raise CannotStart(f"{entry['name']}: no key {reference['key']} in ConfigMap {reference['name']}")


def relocate(
    environ: Mapping[str, str], container: Object, *, mounts: Mapping[PurePosixPath, Path], root: Path
) -> dict[str, str]:
    """The environment with each path in the container's file system replaced by where that lies on this machine.

    Paths are absolute and stand in the pod's spec itself. What comes from a ConfigMap is no path, even where it begins
    with a slash, as one pin (base64) in 64 does.

    Arguments:
        container: of the pod spec, from which `environ` was resolved.
        mounts: the folder behind each mount path of the container.
        root: what stands for the rest of the container's file system.
    """
    paths = {
        entry["name"]: PurePosixPath(entry["value"])
        for entry in container.get("env") or []
        if str(entry.get("value", "")).startswith("/")
    }
    return {**environ, **{name: str(_located(path, mounts=mounts, root=root)) for name, path in paths.items()}}


def _located(path: PurePosixPath, *, mounts: Mapping[PurePosixPath, Path], root: Path) -> Path:
    for parent in (path, *path.parents):
        if parent in mounts:
            return mounts[parent] / path.relative_to(parent)
    return root / path.relative_to("/")
