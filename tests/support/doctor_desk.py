# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A person who asks the doctor, at a host with a settings file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.better_compute.fleet.daemon.command_line import main


class Desk:
    """A person at a host with a settings file."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        """Settings on a SQLite file that is not there yet; the gateway takes any free port."""
        self.folder, self.capsys = folder, capsys
        self.file = folder / "fleet.toml"
        self.write()

    def write(self, more: str = "", *, store: str | None = None, port: int = 0) -> None:
        """Write the settings, with these lines more: the first of them are the gateway's, as is the port."""
        database = store or f"sqlite:///{self.folder / 'fleet.db'}"
        self.file.write_text(
            f'[store]\ndatabase_url = "{database}"\n'
            f'[gateway]\nlisten_port = {port}\nstate_dir = "{self.folder / "state"}"\n{more}'
        )

    def run(self, *command: str) -> tuple[int, str]:
        """Exit status and standard output; nothing else is ever said."""
        status = main([*command, "--settings", str(self.file)])
        told = self.capsys.readouterr()
        assert told.err == ""
        return status, told.out

    def doctor(self) -> tuple[int, dict[str, list[dict[str, Any]]]]:
        """Exit status, and the checks by what they are about."""
        status, printed = self.run("doctor", "--json")
        found: dict[str, list[dict[str, Any]]] = {}
        for check in json.loads(printed)["checks"]:
            found.setdefault(check["about"], []).append(check)
        return status, found
