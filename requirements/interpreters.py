# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which Pythons of this machine an environment can be made from. Standard library only, and no older Python minded."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

OLDEST = (3, 11)
# ansible-core 2.19, the newest line for Python 3.11, names 3.13 as the newest Python of a control node.
NEWEST = (3, 13)

_NEEDED = "import ensurepip, sqlite3, ssl"
"""Built without one of these, or cut up by a distribution, a Python makes no environment that is of use."""


def fitting() -> str:
    """Return the path of an interpreter from 3.11 to 3.13: this one, else the newest that is found.

    Raises SystemExit, telling what is needed, when there is none.
    """
    if OLDEST <= sys.version_info[:2] <= NEWEST:
        return os.path.realpath(sys.executable)
    found = newest(above=(OLDEST[0], OLDEST[1] - 1))
    if found is None:
        raise SystemExit(
            "make venv: Python 3.11, 3.12 or 3.13 is needed; %s is %d.%d and no other was found.\n"
            "Name one: make venv PYTHON=/path/to/python3.12" % (sys.executable, *sys.version_info[:2])
        )
    return found


def newest(*, above: tuple[int, int]) -> str | None:
    """Return the path of the newest interpreter up to 3.13 that is newer than ``above``; None when there is none."""
    for minor in range(NEWEST[1], above[1], -1):
        for path in _named(minor):
            # A version switcher's shim may stand on PATH for a version that is not switched on: ask it.
            asked = subprocess.run(
                [path, "-c", _NEEDED + ", sys; print(sys.executable)"], capture_output=True, text=True, check=False
            )
            if asked.returncode == 0:
                return os.path.realpath(asked.stdout.strip())
    return None


def _named(minor: int) -> Iterator[str]:
    """Where a Python 3.``minor`` may be: on PATH, then among what pyenv has built and not switched on."""
    name = "python3.%d" % minor
    on_path = shutil.which(name)
    if on_path:
        yield on_path
    if shutil.which("pyenv"):
        root = subprocess.run(["pyenv", "root"], capture_output=True, text=True, check=False).stdout.strip()
        yield from sorted(map(str, Path(root, "versions").glob("3.%d.*/bin/%s" % (minor, name))), reverse=True)
