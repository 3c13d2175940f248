# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A pod's volumes as folders: host paths that outlive the pod, Secrets that follow the cluster's.

Everything lies in the machine's own folder, closed to others (0700, files 0600), because bcd keeps its identity there.
"""

from __future__ import annotations

import base64
import os
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from .container_environment import CannotStart

Object = Mapping[str, Any]


class PodVolumes:
    """The volumes of one pod."""

    def __init__(self, spec: Object, *, machine: Path, pod: Path, read_secret: Callable[[str], Object | None]) -> None:
        """Make the folders; Secrets come with the first `sync`.

        Arguments:
            spec: the pod's.
            machine: the machine's folder, for host paths.
            pod: the pod's folder; goes with it.
            read_secret: the Secret of that name in the pod's namespace.
        """
        self._read_secret = read_secret
        self._folders: dict[str, Path] = {}
        self._secrets: dict[str, Object] = {}
        for volume in spec.get("volumes") or []:
            if "hostPath" in volume:
                folder = machine / "host" / PurePosixPath(volume["hostPath"]["path"]).relative_to("/")
            else:
                folder = pod / "volumes" / volume["name"]
                if "secret" not in volume:
                    raise CannotStart(f"volume {volume['name']}: no machine here knows {', '.join(volume)}")
                self._secrets[volume["name"]] = volume["secret"]
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._folders[volume["name"]] = folder

    def mounts(self, container: Object) -> dict[PurePosixPath, Path]:
        """The folder behind each of a container's mount paths."""
        return {
            PurePosixPath(mount["mountPath"]): self._folders[mount["name"]]
            for mount in container.get("volumeMounts") or []
        }

    def sync(self) -> None:
        """Bring the Secrets' files up to what the cluster has now.

        Raises:
            CannotStart: a Secret that is not optional is missing.
        """
        for name, source in self._secrets.items():
            secret = self._read_secret(source["secretName"])
            if secret is None and not source.get("optional"):
                raise CannotStart(f"volume {name}: no Secret {source['secretName']}")
            data = {key: base64.b64decode(value) for key, value in ((secret or {}).get("data") or {}).items()}
            _mirror(data, self._folders[name])


def _mirror(data: Mapping[str, bytes], folder: Path) -> None:
    """Make the folder hold exactly these files, each replaced whole."""
    for path in folder.iterdir():
        if path.name not in data:
            path.unlink()
    for name, content in data.items():
        new = folder / f"..{name}"
        with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.write(content)
        new.replace(folder / name)


def remove(folder: Path) -> None:
    """Remove a folder and all in it; one that is not there is no error."""
    shutil.rmtree(folder, ignore_errors=True)
