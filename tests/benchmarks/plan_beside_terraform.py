# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""plan.vs_terraform: a plan of 1,000 converged pools as a whole process, beside Terraform's of 1,000 resources.

Ours is the module's process as Ansible starts it on a target, in check mode: start-up, document, records, plan, result.
Ansible's own part is left out, as is what a person's shell does before terraform starts. Terraform's resources are its
built-in `terraform_data`, all in its state: neither side asks a provider. Each is written out under a name of its own,
as each pool is in the document (pools differ, so `count` would not do for them), and both documents are JSON.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from .documents import many_pools
from .item import Bar, Item
from .many_rows import database_of
from .product import Desk, desk
from .timing import Failed, by_turns, run_process

BESIDE: Final = Item(name="plan.vs_terraform", unit="x", side=Bar.AT_LEAST, bar=3.0)
ITEMS: Final = (BESIDE,)

_POOLS: Final = 1_000
_ROUNDS: Final = 5


def measure(folder: Path) -> Iterator[Item]:
    """Time both, by turns."""
    program = shutil.which("terraform")
    if program is None:
        yield replace(BESIDE, note="terraform is not on PATH")
        return
    theirs = _Terraform(program, folder / "terraform")
    at = desk(folder)
    database_of(_POOLS, folder / "fleet.db", flavors=1)
    document = folder / "fleet.json"
    document.write_text(json.dumps(many_pools(_POOLS, flavors=1)))
    taken = by_turns({"ours": lambda: _plan(at, document), "terraform": theirs.plan}, rounds=_ROUNDS)
    note = (
        f"medians of {_ROUNDS} whole processes by turns: bc_fleet in check mode without refresh, {_POOLS:,} pools of "
        f"one flavor, {taken['ours']:.2f} s; terraform plan, {_POOLS:,} terraform_data, {taken['terraform']:.2f} s"
    )
    yield replace(BESIDE, value=taken["terraform"] / taken["ours"], note=note, versions={"terraform": theirs.version})


def _plan(at: Desk, document: Path) -> float:
    arguments = {"src": str(document), "remote_src": True, "refresh": False}
    seconds, result = at.module("bc_fleet", arguments, check=True)
    if result["changed"] or len(result["plan"]["flavors"]) != _POOLS:
        raise Failed("bc_fleet did not plan what was recorded")
    return seconds


class _Terraform:
    """Terraform in a folder of its own, with everything applied."""

    def __init__(self, program: str, folder: Path) -> None:
        folder.mkdir()
        self._program = program
        self._folder = folder
        # No configuration of the person's, and no question to HashiCorp whether there is a newer one.
        kept = {name: value for name, value in os.environ.items() if not name.startswith("TF_")}
        self._environment = kept | {"CHECKPOINT_DISABLE": "1", "TF_IN_AUTOMATION": "1", "HOME": str(folder)}
        self._declare(1)
        self._run("init")
        # Terraform applies one itself, and the others' states are copies: to apply all takes it a minute.
        self._run("apply", "-auto-approve")
        self._grow(folder / "terraform.tfstate")
        self._declare(_POOLS)
        self.version: str = json.loads(self._run("version", "-json")[1])["terraform_version"]

    def plan(self) -> float:
        """Seconds that a plan takes; it must find nothing to do."""
        return self._run("plan", "-detailed-exitcode")[0]

    def _declare(self, pools: int) -> None:
        resources = {_name(number): {"input": _input(number)} for number in range(pools)}
        (self._folder / "main.tf.json").write_text(json.dumps({"resource": {"terraform_data": resources}}))

    @staticmethod
    def _grow(state: Path) -> None:
        recorded = json.loads(state.read_text())
        [first] = recorded["resources"]
        recorded["resources"] = [_copied(first, number) for number in range(_POOLS)]
        state.write_text(json.dumps(recorded))

    def _run(self, command: str, *options: str) -> tuple[float, str]:
        # -input and -no-color are unknown to `version`.
        plain = () if command == "version" else ("-no-color", "-input=false")
        return run_process(
            [self._program, command, *plain, *options], environment=self._environment, folder=self._folder
        )


def _name(number: int) -> str:
    return f"pool-{number:05}"


def _input(number: int) -> dict[str, Any]:
    return {"name": _name(number), "machine_type": "p5.48xlarge", "nodes": 1, "spot": False}


def _copied(first: dict[str, Any], number: int) -> dict[str, Any]:
    copy: dict[str, Any] = json.loads(json.dumps(first).replace(_name(0), _name(number)))
    [instance] = copy["instances"]
    instance["attributes"]["id"] = f"{number:08x}{instance['attributes']['id'][8:]}"
    return copy
