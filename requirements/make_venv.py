# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Make the checkout's virtual environment from the lock, and again only when it must.

Run as ``python3 requirements/make_venv.py`` (that is what ``make venv`` does). Standard library only: it runs before
anything is installed. It leaves these behind:

- ``.venv`` with what ``requirements/lock.txt`` names (and uv, which installs it), checked against the hashes;
- ``build/ansible_collections/better_compute/fleet``, a link to the checkout, which is how Ansible, pytest and the
  daemon all find this tree under its collection name;
- a ``.pth`` file in the environment that puts ``build`` and ``agent`` on the import path;
- the environment's ``bc-fleetd``, which runs the checkout's daemon.

With ``--newest`` the environment is ``build/newest``, of the newest Python at hand that is newer than ``.venv``'s; the
lock has the newest ansible-core for it. Ends with 3 when there is no such Python.

A stamp in the environment holds what it was made from. While it matches, a run changes nothing.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

import interpreters

CHECKOUT = Path(__file__).resolve().parent.parent
UV_LOCK = CHECKOUT / "requirements" / "uv.txt"
LOCK = CHECKOUT / "requirements" / "lock.txt"
VENV = CHECKOUT / ".venv"
NEWEST_VENV = CHECKOUT / "build" / "newest"
LINK = CHECKOUT / "build" / "ansible_collections" / "better_compute" / "fleet"

NO_NEWER_PYTHON = 3

# As the wheel's own (pyproject.toml, project.scripts), out of the checkout.
COMMAND = """\
#!%s
import sys

from ansible_collections.better_compute.fleet.daemon.command_line import main

sys.exit(main())
"""


def fingerprint(*, venv: Path, python: str) -> str:
    """Return what the environment depends on, as text: the lock, the interpreter, and where it lies.

    The folder counts because scripts in a virtual environment name it absolutely: a moved checkout needs a new one.
    """
    digest = hashlib.sha256(UV_LOCK.read_bytes() + LOCK.read_bytes()).hexdigest()
    return "%s\n%s\n%s\n" % (digest, python, venv)


def link_collection() -> None:
    """Make the link that gives the checkout its collection name. A right link is left alone."""
    LINK.parent.mkdir(parents=True, exist_ok=True)
    target = Path(os.path.relpath(CHECKOUT, LINK.parent))
    if LINK.is_symlink() and LINK.readlink() == target:
        return
    if LINK.is_symlink():
        LINK.unlink()
    LINK.symlink_to(target)


def write_command(*, venv: Path) -> None:
    """Write the environment's ``bc-fleetd``. The right one is left alone: it may be running."""
    command = venv / "bin" / "bc-fleetd"
    text = COMMAND % (venv / "bin" / "python")
    if command.exists() and command.read_text(encoding="utf-8") == text:
        return
    command.write_text(text, encoding="utf-8")
    command.chmod(0o755)


def make_environment(*, venv: Path, python: str) -> None:
    """Make the environment anew and install the lock into it. The stamp comes last: a broken run is made again."""
    if venv.exists():
        shutil.rmtree(venv)
    subprocess.run([python, "-m", "venv", str(venv)], check=True)
    venv_python = str(venv / "bin" / "python")
    # The locks are complete, so there is nothing to resolve; wheels only, so no compiler is needed or used.
    checks = ["--require-hashes", "--no-deps", "--only-binary", ":all:"]
    pip = [venv_python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input", *checks]
    subprocess.run([*pip, "-r", str(UV_LOCK)], check=True)
    # Bytecode, as pip makes it: where PYTHONDONTWRITEBYTECODE is set, every process would compile all it imports.
    uv = [str(venv / "bin" / "uv"), "pip", "install", "--quiet", "--compile-bytecode", "--python", venv_python, *checks]
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
    stamp(venv).write_text(fingerprint(venv=venv, python=python), encoding="utf-8")


def stamp(venv: Path) -> Path:
    """Return where an environment keeps what it was made from."""
    return venv / "made-from"


def bring_up_to_date(*, venv: Path, python: str) -> None:
    """Bring an environment up to date, saying so only when there was something to do."""
    if not stamp(venv).exists() or stamp(venv).read_text(encoding="utf-8") != fingerprint(venv=venv, python=python):
        print("making %s from requirements/lock.txt ..." % venv.relative_to(CHECKOUT), flush=True)
        make_environment(venv=venv, python=python)
    write_command(venv=venv)


def newer_python() -> str | None:
    """Return the newest Python at hand that is newer than ``.venv``'s; None when there is none."""
    version = subprocess.run(
        [str(VENV / "bin" / "python"), "-c", "import sys; print(sys.version_info[1])"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    return interpreters.newest(above=(3, int(version)))


def main(arguments: list[str]) -> int:
    """Bring link and environment up to date; the exit status."""
    link_collection()
    if arguments != ["--newest"]:
        bring_up_to_date(venv=VENV, python=interpreters.fitting())
        return 0
    python = newer_python()
    if python is None:
        return NO_NEWER_PYTHON
    bring_up_to_date(venv=NEWEST_VENV, python=python)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except subprocess.CalledProcessError as failed:
        raise SystemExit(failed.returncode) from None
