# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which version of the collection this is, however it came here: by Galaxy, as a wheel, or as a checkout."""

from __future__ import annotations

import json
import platform
import re
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

_DISTRIBUTION = "better-compute-fleet"
_COLLECTION = Path(__file__).parent.parent

UNKNOWN = "unknown"
"""Where nothing says it: somebody copied the folders alone."""


def collection_version(folder: Path = _COLLECTION) -> str:
    """The version, such as `0.1.0`; :data:`UNKNOWN` where nothing says it.

    What lies beside the code is believed first: another version may be installed in this Python, too.

    Arguments:
        folder: the collection's.
    """
    try:
        return str(json.loads((folder / "MANIFEST.json").read_bytes())["collection_info"]["version"])
    except (OSError, ValueError, LookupError, TypeError):
        pass
    try:
        # By hand: the daemon has no need of a YAML library.
        said = re.search(r"^version: *[\"']?([^\s\"']+)", (folder / "galaxy.yml").read_text("utf-8"), re.MULTILINE)
    except (OSError, ValueError):
        said = None
    if said:
        return said[1]
    try:
        return version(_DISTRIBUTION)
    except PackageNotFoundError:
        return UNKNOWN


def told_version() -> str:
    """One line for a person: the collection's version, and the Python that runs it."""
    return f"bc-fleetd {collection_version()} (Python {platform.python_version()})"
