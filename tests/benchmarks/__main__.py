# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run the benchmarks, write build/bench.json, and print it as a table: `make bench`.

Exit status 1 when a value does not hold. One that cannot be measured on this machine is told, and fails nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Final

from ansible_collections.better_compute.fleet.tests.support.life import memory_folder

from . import (
    converged_calls,
    fifty_pools,
    gateway_load,
    hundred_substrates,
    node_pools,
    plan_beside_terraform,
    plan_growth,
    thousand_nodes,
)
from .item import Item, cores
from .product import CHECKOUT
from .table import print_table
from .timing import Failed

MODULES: Final[tuple[ModuleType, ...]] = (
    converged_calls,
    plan_growth,
    plan_beside_terraform,
    node_pools,
    fifty_pools,
    thousand_nodes,
    gateway_load,
    hundred_substrates,
)
"""Each has ITEMS, not measured yet, and measure(folder), which gives them measured, in that order."""

_REPORT: Final = CHECKOUT / "build" / "bench.json"

Measure = Callable[[Path], Iterator[Item]]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run; the exit status."""
    names = [item.name for module in MODULES for item in module.ITEMS]
    parser = argparse.ArgumentParser(prog="make bench", description="How fast the product is, as ratios within a run.")
    parser.add_argument("--only", choices=names, action="append", metavar="NAME", help=f"one of {', '.join(names)}")
    parser.add_argument("--output", type=Path, default=_REPORT, help="the report, JSON (default: build/bench.json)")
    options = parser.parse_args(arguments)
    if os.getloadavg()[0] > cores() / 2:
        sys.stderr.write("This machine is busy with other things: whatever is measured in seconds will be off.\n")
    items: list[Item] = []
    for module in MODULES:
        wanted = {item.name for item in module.ITEMS if options.only is None or item.name in options.only}
        if wanted:
            # In memory where the system has a place there: disks differ, and are not what is measured.
            with memory_folder() as folder:
                measured = attempt(module.ITEMS, module.measure, folder)
            items += [item for item in measured if item.name in wanted]
    options.output.parent.mkdir(parents=True, exist_ok=True)
    options.output.write_text(json.dumps([item.to_data() for item in items], indent=2) + "\n")
    print_table(items)
    return 1 if any(item.holds is False for item in items) else 0


def attempt(items: Sequence[Item], measure: Measure, folder: Path) -> list[Item]:
    """The items measured. Where one fails, it and those after it say so: a benchmark that breaks does not hold."""
    sys.stderr.write(f"measuring {', '.join(item.name for item in items)} ...\n")
    measured: list[Item] = []
    try:
        for item in measure(folder):
            measured.append(item)  # noqa: PERF402 -- those before one that fails are kept
    except Failed as error:
        measured += [replace(item, wrong=str(error)) for item in items[len(measured) :]]
    return measured


if __name__ == "__main__":
    sys.exit(main())
