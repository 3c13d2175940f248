# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""docs/metrics.md lists every metric as the registry has it, and its rules ask for none that is not there."""

from __future__ import annotations

import json
import re

import yaml

from ansible_collections.better_compute.fleet.daemon.logs import FIELDS, NUMBERS
from ansible_collections.better_compute.fleet.tests.support.pages import DOCS, blocks, prose
from ansible_collections.better_compute.fleet.tests.support.scrapes import Scrape, scrape
from ansible_collections.better_compute.fleet.tests.support.told_metrics import everything_told

PAGE = DOCS / "metrics.md"

_ROW = re.compile(r"^\| `(bc_fleetd_\w+)` \| (.*?) \| (.*?) \|$", re.MULTILINE)


def families(told: Scrape) -> dict[str, tuple[str, str]]:
    """Of each metric of ours its labels, and what it says of itself, under the name that a query has."""
    found = {}
    for name, (kind, documentation) in told.families.items():
        if name.startswith("bc_fleetd_"):
            sample = {"counter": f"{name}_total", "histogram": f"{name}_count"}.get(kind, name)
            labels = {label for labels in told.labels_of(sample) for label in labels}
            shown = name if kind == "histogram" else sample
            found[shown] = (", ".join(f"`{label}`" for label in sorted(labels)), documentation)
    return found


def test_the_table_has_every_metric_with_its_labels_and_its_own_words() -> None:
    rows = {name: (labels.strip(), said) for name, labels, said in _ROW.findall(prose(PAGE))}
    assert rows == families(scrape(everything_told()))


def test_each_rule_asks_for_metrics_and_labels_that_are_there() -> None:
    told = scrape(everything_told())
    [rules] = [yaml.safe_load(block) for block in blocks(PAGE, "yaml") if "groups:" in block]
    [group] = rules["groups"]
    assert len(group["rules"]) >= 8
    for rule in group["rules"]:
        named = re.findall(r"\b(?:bc_fleetd|process)_\w+", rule["expr"])
        assert named, rule["alert"]
        for name in named:
            labels = [set(labels) for sample, labels in told.samples if sample == name]
            assert labels, f"{rule['alert']} asks for {name}"
        assert rule["annotations"]["summary"]
        assert rule["expr"].count("(") == rule["expr"].count(")")


def test_the_page_names_every_field_that_a_log_line_may_have() -> None:
    named = set(re.findall(r"^\| `(\w+)` \|", prose(PAGE), re.MULTILINE))
    assert named >= {*FIELDS, "time", "level", "from", "event", "error", "at", "reason", "stack"}


def test_the_line_of_json_on_the_page_has_fields_that_are_there_and_their_kinds() -> None:
    [line] = blocks(PAGE, "json")
    told = json.loads(line)
    assert set(told) - set(FIELDS) == {"time", "level", "logger", "message"}
    assert {name for name, value in told.items() if not isinstance(value, str)} == NUMBERS
