# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the real control plane's programs come from: KUBEBUILDER_ASSETS, or built once from tests/controlplane.

A build is kept in the user's cache folder, by version and by what it was made from, so that a change of the Go module
builds anew and everything else does not. Run as a file, by any Python, it builds what is missing and says where it is:
it needs nothing of the virtual environment, so that it can be built while that is being made.
"""

from __future__ import annotations

import argparse
import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

PROGRAMS = ("etcd", "kube-apiserver", "kube-controller-manager")
ASSETS_VARIABLE = "KUBEBUILDER_ASSETS"
SOURCES = Path(__file__).resolve().parents[2] / "controlplane"

_BINARY = "controlplane"
_FLAGS = ("-trimpath", "-buildvcs=false", "-gcflags=all=-dwarf=false -l")
_LINKER_FLAGS = "-s -w -X k8s.io/component-base/version.gitVersion={version}"
"""Nothing for debuggers, and no inlining: on the largest packages the compiler takes half the time without the two.
And a version, which else only Kubernetes' own builds know."""

_SETTINGS = {"CGO_ENABLED": "0", "GOGC": "400"}
"""No C compiler; and compilers that collect their garbage less often: a quarter off their time, for some memory."""

_KEY_DIGITS = 12


class NoControlPlane(RuntimeError):
    """There are no programs to be had. The message says what to do."""


def find() -> Path:
    """The folder with etcd, kube-apiserver and kube-controller-manager. Builds nothing.

    Raises:
        NoControlPlane: KUBEBUILDER_ASSETS names a folder that lacks one of them, or nothing was built yet.
    """
    given = os.environ.get(ASSETS_VARIABLE)
    folder = Path(given) if given else built_folder()
    missing = [name for name in PROGRAMS if not os.access(folder / name, os.X_OK)]
    if not missing:
        return folder
    if given:
        raise NoControlPlane(f"{ASSETS_VARIABLE} is set, and {folder} has no {', '.join(missing)}")
    raise NoControlPlane("the real control plane is not built: run `make controlplane` (needs Go; many minutes, once)")


def built_folder() -> Path:
    """Where a build of these sources is kept, built or not: `<cache>/better-compute/controlplane/<version>-<hash>`."""
    sources = sorted(path for path in SOURCES.iterdir() if path.suffix in (".go", ".mod", ".sum"))
    digest = hashlib.sha256(" ".join((*_FLAGS, _LINKER_FLAGS)).encode())
    for path in sources:
        content = path.read_bytes()
        digest.update(f"{path.name} {len(content)}\n".encode() + content)
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return cache / "better-compute" / "controlplane" / f"{_version()}-{digest.hexdigest()[:_KEY_DIGITS]}"


def _version() -> str:
    """The version of Kubernetes that the Go module asks for: `v1.34.4`."""
    required = re.search(r"^\s*k8s\.io/kubernetes (v\S+)$", (SOURCES / "go.mod").read_text(), re.MULTILINE)
    if required is None:
        raise NoControlPlane(f"{SOURCES / 'go.mod'} requires no k8s.io/kubernetes")
    return required[1]


def build(*, jobs: int | None = None) -> Path:
    """The folder of `find`, built first where it is missing. Two at once wait for each other.

    Arguments:
        jobs: compilers at a time; as many as there are cores when it is None.

    Raises:
        NoControlPlane: there is no Go, or it could not build them.
    """
    if os.environ.get(ASSETS_VARIABLE):
        return find()
    folder = built_folder()
    folder.parent.mkdir(parents=True, exist_ok=True)
    with (folder.parent / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            _build_into(folder, jobs)
    return find()


def _build_into(folder: Path, jobs: int | None) -> None:
    go = shutil.which("go")
    if go is None:
        raise NoControlPlane(f"no Go on PATH to build it with: install Go, or set {ASSETS_VARIABLE}")
    # Under another name first: a build that is cut off leaves nothing that counts as one.
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix="building-") as building:
        made = Path(building) / folder.name
        made.mkdir()
        linker_flags = _LINKER_FLAGS.format(version=_version())
        command = [go, "build", *_FLAGS, f"-ldflags={linker_flags}", "-o", str(made / _BINARY)]
        command += [] if jobs is None else ["-p", str(jobs)]
        built = subprocess.run([*command, "."], cwd=SOURCES, env=os.environ | _SETTINGS, check=False)
        if built.returncode != 0:
            raise NoControlPlane(f"`{' '.join(command)}` in {SOURCES} failed")
        for name in PROGRAMS:
            (made / name).symlink_to(_BINARY)
        made.rename(folder)


def main() -> int:
    """Build what is missing and print the folder; 1 when it cannot be had."""
    parser = argparse.ArgumentParser(description="Build the real control plane, once, into the user's cache folder.")
    parser.add_argument("--jobs", type=int, help="compilers at a time; as many as there are cores when left out")
    try:
        sys.stdout.write(f"{build(jobs=parser.parse_args().jobs)}\n")
    except NoControlPlane as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
