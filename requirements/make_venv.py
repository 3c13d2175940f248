# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Make the checkout's virtual environment from the lock, and again only when it must.

Run as ``python3 requirements/make_venv.py`` (that is what ``make venv`` does). Standard library only: it runs before
anything is installed. It leaves three things behind:

- ``.venv`` with what ``requirements/lock.txt`` names (and uv, which installs it), checked against the hashes;
- ``build/ansible_collections/better_compute/fleet``, a link to the checkout, which is how Ansible, pytest and the
  daemon all find this tree under its collection name;
- a ``.pth`` file in the environment that puts ``build`` and ``agent`` on the import path.

A stamp in ``.venv`` holds what the environment was made from. While it matches, a run changes nothing.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent
UV_LOCK = CHECKOUT / "requirements" / "uv.txt"
LOCK = CHECKOUT / "requirements" / "lock.txt"
VENV = CHECKOUT / ".venv"
STAMP = VENV / "made-from"
LINK = CHECKOUT / "build" / "ansible_collections" / "better_compute" / "fleet"

OLDEST_PYTHON = (3, 11)
# ansible-core 2.19, the newest line for Python 3.11, names 3.13 as the newest Python of a control node.
NEWEST_PYTHON = (3, 13)


def fitting_python() -> str:
    """Return the path of an interpreter from 3.11 to 3.13: this one, else the newest on PATH.

    Raises SystemExit, telling what is needed, when there is none.
    """
    if OLDEST_PYTHON <= sys.version_info[:2] <= NEWEST_PYTHON:
        return os.path.realpath(sys.executable)
    for minor in range(NEWEST_PYTHON[1], OLDEST_PYTHON[1] - 1, -1):
        found = shutil.which("python3.%d" % minor)
        # A version switcher's shim may stand on PATH for a version that is not switched on: ask it.
        if found and subprocess.run([found, "-c", ""], capture_output=True, check=False).returncode == 0:
            return found
    raise SystemExit(
        "make venv: Python 3.11, 3.12 or 3.13 is needed; %s is %d.%d and no other was found on PATH.\n"
        "Name one: make venv PYTHON=/path/to/python3.12" % (sys.executable, *sys.version_info[:2])
    )


def fingerprint(*, python: str) -> str:
    """Return what the environment depends on, as text: the lock, the interpreter, and where it lies.

    The folder counts because scripts in a virtual environment name it absolutely: a moved checkout needs a new one.
    """
    digest = hashlib.sha256(UV_LOCK.read_bytes() + LOCK.read_bytes()).hexdigest()
    return "%s\n%s\n%s\n" % (digest, python, VENV)


def link_collection() -> None:
    """Make the link that gives the checkout its collection name. A right link is left alone."""
    LINK.parent.mkdir(parents=True, exist_ok=True)
    target = Path(os.path.relpath(CHECKOUT, LINK.parent))
    if LINK.is_symlink() and LINK.readlink() == target:
        return
    if LINK.is_symlink():
        LINK.unlink()
    LINK.symlink_to(target)


def make_environment(*, python: str) -> None:
    """Make ``.venv`` anew and install the lock into it. The stamp comes last: a broken run is made again."""
    if VENV.exists():
        shutil.rmtree(VENV)
    subprocess.run([python, "-m", "venv", str(VENV)], check=True)
    venv_python = str(VENV / "bin" / "python")
    # The locks are complete, so there is nothing to resolve; wheels only, so no compiler is needed or used.
    checks = ["--require-hashes", "--no-deps", "--only-binary", ":all:"]
    pip = [venv_python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input", *checks]
    subprocess.run([*pip, "-r", str(UV_LOCK)], check=True)
    uv = [str(VENV / "bin" / "uv"), "pip", "install", "--quiet", "--python", venv_python, *checks]
    if subprocess.run([*uv, "-r", str(LOCK)], check=False).returncode != 0:
        # uv does not read pip's configuration: behind a mirror that only pip.conf names, pip gets there, slowly.
        print("uv could not install the lock; once more with pip (about two minutes) ...", flush=True)
        subprocess.run([*pip, "-r", str(LOCK)], check=True)
    purelib = subprocess.run(
        [venv_python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout.strip()
    paths = [str(CHECKOUT / "build"), str(CHECKOUT / "agent")]
    (Path(purelib) / "better_compute_fleet.pth").write_text("\n".join(paths) + "\n", encoding="utf-8")
    STAMP.write_text(fingerprint(python=python), encoding="utf-8")


def main() -> None:
    """Bring link and environment up to date, saying so only when there was something to do."""
    python = fitting_python()
    link_collection()
    if STAMP.exists() and STAMP.read_text(encoding="utf-8") == fingerprint(python=python):
        return
    print("making .venv from requirements/lock.txt ...", flush=True)
    make_environment(python=python)


if __name__ == "__main__":
    try:
        main()
    except subprocess.CalledProcessError as failed:
        raise SystemExit(failed.returncode) from None
