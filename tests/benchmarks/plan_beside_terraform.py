# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""plan.vs_terraform: a plan of 1,000 converged resources as a whole process, beside Terraform's of as many.

Ours is `bc-fleetd plan`, the command that a person runs where they would run `terraform plan`: start-up, document,
records, plan, text. A pool of one flavor is two resources at its provider, a cluster and a node pool (its quota is
none), so 500 pools stand beside 1,000 resources; what 1,000 pools take is told with it. Terraform's resources are its
built-in `terraform_data`, all in its state: neither side asks a provider. Each is written out under a name of its own,
as each pool is in the document (pools differ, so `count` would not do for them), and both documents are JSON. All run
once before they are timed: as from an installed program, Python's bytecode is there, which this environment may forbid
to write beside the source.
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
from .product import desk, installed
from .timing import Failed, by_turns, run_process

BESIDE: Final = Item(name="plan.vs_terraform", unit="x", side=Bar.AT_LEAST, bar=3.0)
ITEMS: Final = (BESIDE,)

_RESOURCES: Final = 1_000
_RESOURCES_OF_A_POOL: Final = 2
_ROUNDS: Final = 5


def measure(folder: Path) -> Iterator[Item]:
    """Time both, by turns."""
    program = shutil.which("terraform")
    if program is None:
        yield replace(BESIDE, note="terraform is not on PATH")
        return
    theirs = _Terraform(program, folder / "terraform")
    counts = (_RESOURCES // _RESOURCES_OF_A_POOL, _RESOURCES)
    ours = {pools: _Ours(pools, folder / f"{pools}-pools") for pools in counts}
    contestants = {"terraform": theirs.plan} | {f"{pools:,} pools": one.plan for pools, one in ours.items()}
    for run in contestants.values():
        run()
    taken = by_turns(contestants, rounds=_ROUNDS)
    equal, more = (taken[f"{pools:,} pools"] for pools in ours)
    note = (
        f"medians of {_ROUNDS} whole processes by turns: terraform plan, {_RESOURCES:,} terraform_data, "
        f"{taken['terraform']:.2f} s; bc-fleetd plan without refresh, {_RESOURCES:,} resources in {min(ours):,} pools, "
        f"{equal:.2f} s; {_RESOURCES:,} pools, {more:.2f} s"
    )
    yield replace(BESIDE, value=taken["terraform"] / equal, note=note, versions={"terraform": theirs.version})


class _Ours:
    """A desk with so many converged pools of one flavor, and their document."""

    def __init__(self, pools: int, folder: Path) -> None:
        folder.mkdir()
        self._pools = pools
        self._desk = installed(desk(folder))
        self._document = folder / "fleet.json"
        self._document.write_text(json.dumps(many_pools(pools, flavors=1)))
        database_of(pools, folder / "fleet.db", flavors=1)

    def plan(self) -> float:
        """Seconds that a plan takes; it must find nothing to do."""
        seconds, told = self._desk.command("plan", str(self._document), "--no-refresh")
        if "no changes" not in told or told.count("\n  pool-") != self._pools:
            raise Failed("bc-fleetd did not plan what was recorded")
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
        self._declare(_RESOURCES)
        self.version: str = json.loads(self._run("version", "-json")[1])["terraform_version"]

    def plan(self) -> float:
        """Seconds that a plan takes; it must find nothing to do."""
        return self._run("plan", "-detailed-exitcode")[0]

    def _declare(self, resources: int) -> None:
        declared = {_name(number): {"input": _input(number)} for number in range(resources)}
        (self._folder / "main.tf.json").write_text(json.dumps({"resource": {"terraform_data": declared}}))

    @staticmethod
    def _grow(state: Path) -> None:
        recorded = json.loads(state.read_text())
        [first] = recorded["resources"]
        recorded["resources"] = [_copied(first, number) for number in range(_RESOURCES)]
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
