# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""converge.fifty_pools: 50 pools converge side by side in hardly more time than one.

The product's own run_until_settled, as bc_fleet calls it with its default settings, on a SQLite file; the provider and
the clusters take a tenth of a second for every call (calibrated_cloud.py).
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Final

from ansible_collections.better_compute.fleet.plugins.module_utils._core.documents.load import parse_document
from ansible_collections.better_compute.fleet.plugins.module_utils._core.documents.settings import load_settings
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations import fleet, passes
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.session import open_session

from .calibrated_cloud import CALL_SECONDS, CalibratedDriver, calibrated_clusters
from .documents import many_pools
from .item import Bar, Item
from .product import AGENT
from .timing import Failed

FIFTY: Final = Item(name="converge.fifty_pools", unit="x", side=Bar.AT_MOST, bar=2.0)
ITEMS: Final = (FIFTY,)

_POOLS: Final = 50
_SINGLE: Final = 3
"""Pools that converge alone; the slowest counts."""

_PATIENCE: Final = timedelta(minutes=3)


def measure(folder: Path) -> Iterator[Item]:
    """Converge single pools, then fifty at once."""
    with calibrated_clusters():
        alone = max(_converge(folder / f"single-{number}.db", pools=1) for number in range(_SINGLE))
        together = _converge(folder / "fifty.db", pools=_POOLS)
    yield replace(
        FIFTY,
        value=together / alone,
        note=f"{_POOLS} pools in {together:.2f} s, the slowest of {_SINGLE} single ones in {alone:.2f} s; "
        f"{CALL_SECONDS:g} s a call",
    )


def _converge(file: Path, *, pools: int) -> float:
    """Seconds until all are ready."""
    driver = CalibratedDriver()
    settings = load_settings(environ={**AGENT, "BC_FLEET_STORE_DATABASE_URL": f"sqlite:///{file}"})
    with open_session(settings) as opened:
        session = replace(opened, open_driver=lambda _account: driver)
        planned = fleet.plan_fleet(session, parse_document(many_pools(pools)), prune=False, refresh=False)
        due = fleet.apply_fleet(session, planned)
        began = time.perf_counter()
        views = passes.run_until_settled(session, due, timeout=_PATIENCE)
        seconds = time.perf_counter() - began
    left = [f"{view.pool}: {view.record.state} ({view.record.message})" for view in views if not view.ready]
    if left or len(views) != pools:
        raise Failed(f"{len(left)} of {pools} pools are not ready: {left[:3]}")
    return seconds
