# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Plans of the example document, and its records as they are after one was applied."""

from __future__ import annotations

from typing import Any

from ansible_collections.better_compute.fleet.plugins.module_utils._core.documents.load import parse_document
from ansible_collections.better_compute.fleet.plugins.module_utils._core.planning import Plan, Records, plan
from ansible_collections.better_compute.fleet.plugins.module_utils._core.planning.desired import desired_rows
from ansible_collections.better_compute.fleet.tests.support.fleet_documents import example
from ansible_collections.better_compute.fleet.tests.support.fleet_records import written
from ansible_collections.better_compute.fleet.tests.support.rows import START

CONFIG = "providerAccounts.0.config"
SUBSTRATE = "pools.0.policy.substrate"
FLAVOR = f"{SUBSTRATE}.flavors.0"
EMPTY: dict[str, Any] = {"version": 1}


def planned(data: dict[str, Any], records: Records, *, prune: bool = False, **options: Any) -> Plan:
    """The plan for a document against records."""
    return plan(parse_document(data), records, zones=options.pop("zones", {}), prune=prune, **options)


def recorded(data: dict[str, Any] | None = None) -> Records:
    """The records of a document, just applied."""
    made = planned(data or example(), Records())
    return written(Records(), desired_rows(made, Records(), now=START))


def apply(data: dict[str, Any], records: Records, **options: Any) -> Records:
    """The records after applying a document, which must not be blocked."""
    return written(records, desired_rows(planned(data, records, **options), records, now=START))


def told(made: Plan) -> list[str]:
    """Each change as `kind resource name`."""
    return [f"{change.kind} {change.resource} {change.title}" for change in made.changes]


def without_flavor(name: str) -> dict[str, Any]:
    """The example without one of its flavors."""
    data = example()
    flavors = data["pools"][0]["policy"]["substrate"]["flavors"]
    flavors[:] = [flavor for flavor in flavors if flavor["name"] != name]
    return data


def without_substrate() -> dict[str, Any]:
    """The example whose pool has no substrate."""
    data = example()
    del data["pools"][0]["policy"]["substrate"]
    return data
