# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What others on this host could read or write of the deployment."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

from ansible_collections.better_compute.fleet.plugins.module_utils._core.documents.settings import ReadSettings
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.findings import Check
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.checks.files import (
    check_guarded,
    check_private,
)

from ..own_certificate import certificate_files


def check_files(read: ReadSettings, file: Path | str | None) -> Iterator[Check]:
    """Who else can read or write the files of the deployment; one that is not there is no matter here."""
    found: list[Check | None] = []
    if file is not None and "\0" not in str(file):
        held = "the database's password" if _has_password(read) else ""
        path = Path(file)
        found.append(check_guarded(path, about="settings file", why="have nodes trust another gateway"))
        if held:
            found.append(check_private(path, about="settings file", holds=held))
    if "gateway" not in read.wrong:
        gateway = read.settings.gateway
        _certificate_file, key_file = certificate_files(read.settings)
        found.append(check_private(key_file, about="gateway's key", holds="the key that every node trusts"))
        found.append(check_guarded(gateway.state_dir, about="state folder", why="put another key there"))
    yield from (check for check in found if check)


def _has_password(read: ReadSettings) -> bool:
    return "store" not in read.wrong and bool(urlsplit(read.settings.store.database_url).password)
