# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs ansible-playbook and ad-hoc modules as a person would, and reads what the modules returned."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .stage import Stage

_COLLECTION = "better_compute.fleet"


class AnsibleFailed(Exception):
    """Ansible ended with a failure; the text is the module's own message, or where the log is."""


class Ansible:
    """Ansible on a stage."""

    def __init__(self, stage: Stage, checkout: Path) -> None:
        """Keep where things are.

        Arguments:
            checkout: the repository's root; build/ below it holds the collection's link.
        """
        self._stage = stage
        self._checkout = checkout
        self._runs = 0

    def playbook(self, document: Path, *, prune: bool = False, check: bool = False) -> dict[str, Any]:
        """Run playbooks/fleet.yml on a document and return what bc_fleet returned.

        Raises:
            AnsibleFailed: with the module's message.
        """
        variables = json.dumps({"src": str(document), "prune": prune, "wait_timeout": 90})
        playbook = str(self._checkout / "playbooks" / "fleet.yml")
        arguments = [playbook, "-e", variables, *(["--check"] if check else [])]
        return self._run("ansible-playbook", arguments, action=f"{_COLLECTION}.bc_fleet")

    def module(self, name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Run one module ad hoc and return its result.

        Raises:
            AnsibleFailed: with the module's message.
        """
        action = f"{_COLLECTION}.{name}"
        return self._run("ansible", ["localhost", "-m", action, "-a", json.dumps(dict(arguments))], action=action)

    def _run(self, program: str, arguments: list[str], *, action: str) -> dict[str, Any]:
        self._runs += 1
        log = f"ansible-{self._runs}.log"
        results = self._stage.folder / f"ansible-{self._runs}.jsonl"
        status = self._stage.run(
            [sys.executable, str(Path(sys.executable).with_name(program)), *arguments],
            log=log,
            environment={
                "ANSIBLE_COLLECTIONS_PATH": str(self._checkout / "build"),
                "ANSIBLE_CALLBACK_PLUGINS": str(Path(__file__).with_name("recorder")),
                "ANSIBLE_CALLBACKS_ENABLED": "results",
                "ANSIBLE_LOAD_CALLBACK_PLUGINS": "1",
                "ANSIBLE_LOCALHOST_WARNING": "0",
                "ANSIBLE_INVENTORY_UNPARSED_WARNING": "0",
                "ANSIBLE_PYTHON_INTERPRETER": sys.executable,
                "ANSIBLE_LOCAL_TEMP": str(self._stage.folder / "ansible-tmp"),
                "ANSIBLE_REMOTE_TEMP": str(self._stage.folder / "ansible-tmp"),
                "QUICKSTART_RESULTS": str(results),
            },
        )
        lines = (
            [json.loads(line) for line in results.read_text(encoding="utf-8").splitlines()] if results.exists() else []
        )
        returned = [line["result"] for line in lines if line["action"] == action]
        if status != 0 or not returned:
            told = returned[-1].get("msg") if returned else None
            raise AnsibleFailed(
                f"{told or f'{program} ended with status {status}'}\n(all of it: {self._stage.folder / log})"
            )
        result: dict[str, Any] = returned[-1]
        return result
