# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""plan.growth: planning without refresh costs the same for each pool, however many there are.

From the document's plain data to the rendered plan, against records in a SQLite file, all in this process.

Garbage collection is off while the clock runs, as in Python's own timeit: what one collection costs depends on all that
the process holds, so it says more about the benchmark's process than about planning. The note says what it adds.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from ansible_collections.better_compute.fleet.plugins.module_utils._core.documents.load import parse_document
from ansible_collections.better_compute.fleet.plugins.module_utils._core.documents.settings import load_settings
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations import fleet
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.fleet import PlannedFleet
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.session import (
    Session,
    open_session,
)

from .documents import many_pools
from .item import Bar, Item
from .many_rows import database_of
from .timing import Failed

_POOLS_AND_ROUNDS: Final = {100: 15, 1_000: 5, 10_000: 2}
_BAR: Final = 1.5
"""n log n would be 2 from 100 to 10,000 pools, and anything quadratic 100. Half of the way from 1 is for caches."""

GROWTH: Final = Item(name="plan.growth", unit="x", side=Bar.AT_MOST, bar=_BAR)
ITEMS: Final = (GROWTH,)


def measure(folder: Path) -> Iterator[Item]:
    """Plan converged documents of three sizes."""
    off: dict[int, float] = {}
    on: dict[int, float] = {}
    for pools, rounds in _POOLS_AND_ROUNDS.items():
        url = database_of(pools, folder / f"{pools}.db")
        check(url, pools=pools)
        with _session(url) as session:
            data = many_pools(pools)
            # The best of a few: this is processor time, to which a busy machine only ever adds.
            off[pools] = min(_seconds(session, data, collect=False) for _round in range(rounds)) / pools
            on[pools] = min(_seconds(session, data, collect=True) for _round in range(rounds)) / pools
    yield item(off, on)


def item(off: dict[int, float], on: dict[int, float]) -> Item:
    """The item for processor seconds a pool by number of pools, with garbage collection off and on."""
    few, *_, many = sorted(off)
    told = ", ".join(f"{off[pools] * 1e6:.0f} us ({on[pools] * 1e6:.0f}) at {pools:,}" for pools in sorted(off))
    return replace(
        GROWTH,
        value=off[many] / off[few],
        note=f"processor time a pool, and in brackets with garbage collection ({on[many] / on[few]:.2f}x): {told}",
    )


def check(url: str, *, pools: int) -> None:
    """See that the records are what the document of so many pools says.

    Raises:
        Failed: they are not.
    """
    with _session(url) as session:
        planned = _plan(session, many_pools(pools)).plan
    if planned.changes or len(planned.sizes) != 2 * pools:
        raise Failed(f"the records are not what the document says: {planned.render()[:2000]}")


def _session(url: str) -> AbstractContextManager[Session]:
    return open_session(load_settings(environ={"BC_FLEET_STORE_DATABASE_URL": url}))


def _seconds(session: Session, data: dict[str, Any], *, collect: bool) -> float:
    gc.collect()
    if not collect:
        gc.disable()
    try:
        began = time.process_time()
        _plan(session, data)
        return time.process_time() - began
    finally:
        gc.enable()


def _plan(session: Session, data: dict[str, Any]) -> PlannedFleet:
    planned = fleet.plan_fleet(session, parse_document(data), prune=False, refresh=False)
    planned.plan.render()
    return planned
