# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs ansible-playbook as a person would, and reads what the modules returned."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from .stage import Stage

_COLLECTION = "better_compute.fleet"

_WAIT_SECONDS = 120
"""How long a run may wait for the pools; they take a quarter of it."""

Booking = dict[str, Any]
"""A reservation as `bc_reservation` returns it."""


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
        variables = {"src": str(document), "prune": prune, "wait_timeout": _WAIT_SECONDS}
        options = ["--check"] if check else []
        return self._playbook("playbooks/fleet.yml", variables, *options, action=f"{_COLLECTION}.bc_fleet")

    def bookings(self, name: str, *, pools: Sequence[str], spot: bool = False, state: str = "present") -> list[Booking]:
        """Run booking.yml: book a GPU under a name in each pool, or give it back.

        Returns:
            The reservations, in the order of the pools.

        Raises:
            AnsibleFailed: with the module's message.
        """
        variables = {"booking": name, "pools": list(pools), "spot": spot, "state": state}
        done = self._playbook("quickstart/booking.yml", variables, action=f"{_COLLECTION}.bc_reservation")
        return [result["reservation"] for result in done["results"]]

    def _playbook(self, path: str, variables: Mapping[str, Any], *options: str, action: str) -> dict[str, Any]:
        arguments = [str(self._checkout / path), "-e", json.dumps(dict(variables)), *options]
        return self._run("ansible-playbook", arguments, action=action)

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
