# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""calls.eks.converged: what a run with nothing to do costs at the provider, from the emulator's request log."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

from .documents import idle_pools
from .item import Bar, Item
from .product import Cloud, desk, emulated_cloud
from .timing import Failed

_GROUPS: Final = 3

CALLS: Final = Item(name="calls.eks.converged", unit="calls", side=Bar.AT_MOST, bar=2.0 + _GROUPS)
"""The cluster, the list of its node groups, and each of them."""

ITEMS: Final = (CALLS,)


def measure(folder: Path) -> Iterator[Item]:
    """Converge a pool of three flavors, then count a module run and a pass that find nothing to do."""
    with emulated_cloud() as cloud:
        # Due again at once, so that `bc-fleetd once` has a pass to run.
        at = desk(folder, cloud.environment, BC_FLEET_RECONCILE_SETTLED_SECONDS="1")
        arguments = {"config": idle_pools(_GROUPS)}
        _, done = at.module("bc_fleet", arguments)
        if done["substrates"][0]["state"] != "ready":
            raise Failed(f"the pool did not become ready: {done['substrates']}")
        said: list[str] = []
        run = _calls(cloud, lambda: said.append(str(at.module("bc_fleet", arguments)[1]["changed"])))
        one_pass = _calls(cloud, lambda: said.append(at.passes()))
    if said[0] != "False" or ": ready" not in said[1]:
        raise Failed(f"not converged: {said}")
    yield item(run, one_pass)


def item(run: Mapping[str, int], one_pass: Mapping[str, int]) -> Item:
    """The item for the calls of a module run and of a pass."""
    writes = run.get("writes", 0) + one_pass.get("writes", 0)
    at_aws = {name: _at_aws(calls) for name, calls in (("bc_fleet", run), ("a pass", one_pass))}
    return replace(
        CALLS,
        value=float(max(sum(calls.values()) for calls in at_aws.values())),
        wrong=f"{writes} writes" if writes else "",
        note=f"{_GROUPS} node groups, zero writes at AWS and in the cluster; "
        + "; ".join(f"{name}: {_told(calls)}" for name, calls in at_aws.items()),
    )


def _calls(cloud: Cloud, act: Callable[[], object]) -> dict[str, int]:
    before = Counter(cloud.calls())
    act()
    return dict(Counter(cloud.calls()) - before)


def _at_aws(calls: Mapping[str, int]) -> dict[str, int]:
    return {name.removeprefix("aws "): count for name, count in calls.items() if name.startswith("aws ")}


def _told(calls: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {name}" for name, count in sorted(calls.items())) or "no calls"
