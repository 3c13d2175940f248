# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""docs/events.md names every event with its data, as a pool's life tells them, and every field that is printed."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.events import read_events, to_data
from ansible_collections.better_compute.fleet.tests.support.life.fleet_at_hand import Fleet
from ansible_collections.better_compute.fleet.tests.support.life.world import document, without_pools
from ansible_collections.better_compute.fleet.tests.support.pages import DOCS, keyed_rows

PAGE = DOCS / "events.md"


def test_a_pools_life_tells_what_the_page_says_of_each_type(fleet: Fleet) -> None:
    fleet.join_all(document())
    larger = document()
    larger["pools"][0]["policy"]["substrate"]["flavors"][0]["nodes"] = 2
    fleet.join_all(larger)
    fleet.apply(without_pools(), prune=True)
    fleet.live(until=fleet.has_nothing_to_do, minutes=60)

    told = [to_data(one) for one in read_events(fleet.session, limit=1000)]
    said: defaultdict[str, set[str]] = defaultdict(set)
    for event in told:
        said[event["type"]] |= set(event["data"])
    types = {name: cells for name, cells in keyed_rows(PAGE).items() if "." in name}
    for name, data in said.items():
        assert set(re.findall(r"`(\w+)`", types[name][1])) >= data, name
        assert data >= set(re.findall(r"`(\w+)`", types[name][1].partition(";")[0])), name
    failures = {"kubernetes.cluster.error", "kubernetes.nodepool.error"}
    assert said.keys() == types.keys() - failures, "of what failed, a life in which nothing fails tells nothing"
    assert {event["pool"] for event in told} == {fleet.pool}
    fields: set[str] = {name for row in keyed_fields() for name in row}
    assert all(event.keys() == fields for event in told)


def keyed_fields() -> Iterator[list[Any]]:
    """The fields' table: a row may name two."""
    table = PAGE.read_text(encoding="utf-8").partition("| field | |")[2].partition("\n\n")[0]
    for line in table.splitlines()[2:]:
        yield re.findall(r"`(\w+)`", line.split("|")[1])
