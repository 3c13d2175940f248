# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A folder for a database that many short transactions are written to."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def memory_folder() -> Iterator[Path]:
    """A folder in memory where the system has one: a commit then costs no turn of a disk."""
    memory = Path("/dev/shm")
    folder = Path(tempfile.mkdtemp(prefix="bc-life-", dir=memory if memory.is_dir() else None))
    try:
        yield folder
    finally:
        shutil.rmtree(folder)
