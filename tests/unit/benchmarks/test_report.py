# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The report of `make bench`: its shape, its table and its exit status. The measuring itself is `make bench`'s."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from ansible_collections.better_compute.fleet.tests.benchmarks import __main__ as bench
from ansible_collections.better_compute.fleet.tests.benchmarks import (
    converged_calls,
    fifty_pools,
    plan_growth,
    thousand_nodes,
)
from ansible_collections.better_compute.fleet.tests.benchmarks.item import Bar, Item
from ansible_collections.better_compute.fleet.tests.benchmarks.many_rows import database_of
from ansible_collections.better_compute.fleet.tests.benchmarks.playbooks import task_seconds
from ansible_collections.better_compute.fleet.tests.benchmarks.table import print_table
from ansible_collections.better_compute.fleet.tests.benchmarks.timing import Failed, by_turns

PAGE = Path(__file__).resolve().parents[3] / "docs" / "benchmarks.md"
NAMES = [
    "calls.eks.converged",
    "plan.growth",
    "plan.vs_terraform",
    "nodepool.one_vs_eks_nodegroup",
    "nodepool.twenty_vs_loop",
    "converge.fifty_pools",
    "pass.thousand_nodes",
    "nodes.vs_typed_list",
    "pass.thousand_nodes_wall",
    "gateway.load_sqlite",
    "gateway.memory",
    "gateway.load_postgresql",
    "daemon.pool_memory",
    "daemon.due_lag",
    "daemon.memory",
]
LEAST = Item(name="speed", unit="x", side=Bar.AT_LEAST, bar=3.0)
MOST = Item(name="calls", unit="calls", side=Bar.AT_MOST, bar=5.0)


def gives(*items: Item) -> bench.Measure:
    """A measurement that gives these, and then fails."""

    def measure(_folder: Path) -> Iterator[Item]:
        yield from items
        raise Failed("the module failed")

    return measure


def test_every_benchmark_is_there_with_its_name() -> None:
    assert [item.name for module in bench.MODULES for item in module.ITEMS] == NAMES


def test_the_page_names_every_benchmark_and_its_bar() -> None:
    rows = dict(re.findall(r"^\| `([a-z_.]+)` \| ([^|]+) \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE))
    assert rows == {
        item.name: f"{item.side} {item.bar:g} {item.unit}" for module in bench.MODULES for item in module.ITEMS
    }


@pytest.mark.parametrize(
    ("item", "holds"),
    [
        (replace(LEAST, value=3.0), True),
        (replace(LEAST, value=2.9), False),
        (replace(MOST, value=5.0), True),
        (replace(MOST, value=6.0), False),
        (replace(MOST, value=5.0, wrong="2 writes"), False),
        (replace(MOST, wrong="it failed"), False),
        (replace(LEAST, note="terraform is not on PATH"), None),
    ],
)
def test_an_item_holds_on_its_side_of_the_bar_only(item: Item, holds: bool | None) -> None:
    assert item.holds is holds


def test_an_item_is_complete_by_itself() -> None:
    data = replace(MOST, value=4.9996, note="three groups", versions={"terraform": "1.2.3"}).to_data()
    assert {name: data[name] for name in ("name", "value", "unit", "bar", "holds", "side", "note")} == {
        "name": "calls",
        "value": 5.0,
        "unit": "calls",
        "bar": 5.0,
        "holds": True,
        "side": "at most",
        "note": "three groups",
    }
    assert data["machine"]["cores"] > 0
    assert {"python", "ansible-core", "sqlalchemy", "terraform"} <= set(data["versions"])


def test_the_table_shows_what_holds_what_does_not_and_what_was_not_measured() -> None:
    printed = io.StringIO()
    items = [replace(MOST, value=5.0), replace(LEAST, value=1.5), replace(LEAST, name="plan", note="no terraform")]
    print_table(items, printed)
    lines = [line for line in printed.getvalue().splitlines() if "at " in line]
    assert ["5 calls" in lines[0], "at most 5" in lines[0], "holds" in lines[0]] == [True] * 3
    assert ["1.5 x" in lines[1], "DOES NOT HOLD" in lines[1]] == [True] * 2
    assert "NOT MEASURED" in lines[2]
    assert "plan: no terraform" in printed.getvalue()


def test_what_was_measured_before_a_failure_is_kept_and_the_rest_does_not_hold(tmp_path: Path) -> None:
    measured = bench.attempt([MOST, LEAST], gives(replace(MOST, value=1.0)), tmp_path)
    assert [(item.name, item.holds, item.wrong) for item in measured] == [
        ("calls", True, ""),
        ("speed", False, "the module failed"),
    ]


@pytest.mark.parametrize(("value", "status"), [(1.0, 0), (9.0, 1), (None, 0)])
def test_the_report_is_a_list_and_the_status_says_whether_all_holds(
    value: float | None,
    status: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    item = replace(fifty_pools.FIFTY, value=value)
    monkeypatch.setattr(fifty_pools, "measure", lambda _folder: iter([item]))
    report = tmp_path / "new" / "bench.json"
    assert bench.main(["--only", item.name, "--output", str(report)]) == status
    assert [one["holds"] for one in json.loads(report.read_text())] == [item.holds]
    assert item.name in capsys.readouterr().out


def test_a_write_in_a_converged_run_does_not_hold() -> None:
    calls = {"aws eks.DescribeCluster": 1, "aws eks.ListNodegroups": 1, "aws eks.DescribeNodegroup": 3}
    assert converged_calls.item(calls, {**calls, "kubernetes GET configmaps": 2}).holds
    assert not converged_calls.item(calls, {**calls, "writes": 1}).holds
    assert not converged_calls.item(calls, {**calls, "aws sts.GetCallerIdentity": 1}).holds


def test_growth_compares_the_most_pools_with_the_fewest() -> None:
    item = plan_growth.item({100: 1e-4, 1_000: 9e-4, 10_000: 1.5e-4}, {100: 1e-4, 1_000: 2e-4, 10_000: 2e-4})
    assert item.value == pytest.approx(1.5)
    assert "(2.00x)" in item.note


def test_many_pools_are_recorded_as_their_document_says(tmp_path: Path) -> None:
    plan_growth.check(database_of(40, tmp_path / "fleet.db"), pools=40)
    with pytest.raises(Failed):
        plan_growth.check(database_of(39, tmp_path / "fewer.db"), pools=40)


def test_contestants_take_turns_and_the_median_counts() -> None:
    order: list[str] = []
    seconds = iter([1.0, 5.0, 9.0, 6.0, 2.0, 7.0])

    def run(name: str) -> float:
        order.append(name)
        return next(seconds)

    assert by_turns({"a": lambda: run("a"), "b": lambda: run("b")}, rounds=3) == {"a": 2.0, "b": 6.0}
    assert order == ["a", "b"] * 3


LOG = """\
2026-11-30 01:09:14,000 p=1 u=x n=ansible INFO| PLAY [localhost] ****
2026-11-30 01:09:15,100 p=1 u=x n=ansible INFO| TASK [the measured task] ****
2026-11-30 01:09:16,350 p=1 u=x n=ansible INFO| ok: [localhost] => (item=one)
2026-11-30 01:09:17,600 p=1 u=x n=ansible INFO| ok: [localhost] => (item=two)
2026-11-30 01:09:19,000 p=1 u=x n=ansible INFO| PLAY RECAP ****
"""


def test_a_tasks_time_is_from_its_start_to_its_last_result() -> None:
    assert task_seconds(LOG) == pytest.approx(2.5)


@pytest.mark.parametrize("log", [LOG.replace("ok:", "changed:"), LOG.replace("ok:", "skipping:"), ""])
def test_a_task_that_changed_something_or_came_to_nothing_is_no_measurement(log: str) -> None:
    with pytest.raises(Failed):
        task_seconds(log)


def test_a_pass_is_measured_beyond_the_bare_list_and_the_typed_list_beside_ours() -> None:
    seconds = {"pass": 0.7, "raw": 0.1, "nodes": 0.2, "typed": 1.2}
    one_pass, typed = thousand_nodes.items(seconds, grown=0)
    assert one_pass.value == pytest.approx(0.6)
    assert typed.value == pytest.approx(6.0)
    assert [one_pass.holds, typed.holds] == [False, True]
    [one_pass, _typed] = thousand_nodes.items({**seconds, "pass": 0.3}, grown=0)
    assert one_pass.holds is True
    [one_pass, _typed] = thousand_nodes.items({**seconds, "pass": 0.3}, grown=0, wrong="2 writes in the cluster")
    assert one_pass.holds is False
