# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What passes against an emulated cloud tell: their outcomes, their calls, the fleet's counts, and lines."""

from __future__ import annotations

import logging
import re
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Any

import pytest

from ansible_collections.better_compute.fleet.daemon.api.calls import CALLS
from ansible_collections.better_compute.fleet.daemon.logs import Logfmt, carry_pass
from ansible_collections.better_compute.fleet.daemon.metrics import Metrics
from ansible_collections.better_compute.fleet.emulators.engine import Error
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.telemetry import current_pass
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations import passes
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.counting import count_fleet
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.session import Session
from ansible_collections.better_compute.fleet.plugins.module_utils._core.store import fleet as fleet_rows
from ansible_collections.better_compute.fleet.tests.support.life.fleet_at_hand import Fleet
from ansible_collections.better_compute.fleet.tests.support.life.world import document
from ansible_collections.better_compute.fleet.tests.support.scrapes import Scrape, scrape

THROTTLED = Error(status=400, code="ThrottlingException", message="Rate exceeded")
DENIED = Error(status=403, code="AccessDeniedException", message="not yours")
DOWN = Error(status=503, code="ServiceUnavailable", message="come back later")


def watched(fleet: Fleet) -> tuple[Fleet, Metrics]:
    """The same fleet with metrics, as the daemon has them."""
    metrics = Metrics(count=partial(count_fleet, fleet.session), workers=4)
    return replace(fleet, session=replace(fleet.session, telemetry=metrics.passes)), metrics


def changes(before: Scrape, after: Scrape, name: str) -> dict[tuple[str, ...], float]:
    """By how much each sample of that name has grown, by the values of its labels in the labels' order."""
    grown = {
        tuple(value for _label, value in sorted(labels)): value - before.samples.get((sample, labels), 0)
        for (sample, labels), value in after.samples.items()
        if sample == name
    }
    return {labels: by for labels, by in grown.items() if by}


def assert_bounded_and_without_secrets(told: Scrape, fleet: Fleet) -> None:
    """No node, no cluster and no credential has become part of a label."""
    nodes = fleet.nodes()
    assert nodes
    for name, node in nodes.items():
        assert name not in told.text
        assert node.id not in told.text
        assert node.identity_hash not in told.text
    assert fleet.cluster().name not in told.text
    assert fleet.scene.environment["AWS_SECRET_ACCESS_KEY"] not in told.text
    assert len(told.samples) < 400


def test_a_life_is_counted_from_its_first_pass_to_its_rest(fleet: Fleet) -> None:
    fleet, metrics = watched(fleet)
    fleet.apply(document())
    waiting = scrape(metrics)
    assert waiting.value("bc_fleetd_substrates", state="pending") == 1
    assert waiting.value("bc_fleetd_units_due") == 1
    fleet.live(until=fleet.at_rest, minutes=30)
    told, record = scrape(metrics), fleet.view().record
    of_pool = {"pool": str(fleet.pool_id)}
    counted = [
        told.value(f"bc_fleetd_nodes_{what}", **of_pool) for what in ("listed", "joined", "connected", "waiting")
    ]
    assert counted == [record.nodes_listed, record.nodes_listed, record.nodes_listed, 0]
    assert record.nodes_listed > 0
    assert told.value("bc_fleetd_substrate_state", state="ready", **of_pool) == 1
    assert told.value("bc_fleetd_clusters", state="ready") == 1
    assert told.value("bc_fleetd_units_due") == told.value("bc_fleetd_due_lag_seconds") == 0
    ended = changes(waiting, told, "bc_fleetd_passes_total")
    assert set(ended) == {("pool", "converging"), ("pool", "settled")}
    calls = changes(waiting, told, "bc_fleetd_provider_calls_total")
    assert calls["create_cluster", "aws"] == 1
    assert sum(calls.values()) == told.value("bc_fleetd_provider_call_duration_seconds_count", provider="aws")
    assert changes(waiting, told, "bc_fleetd_kubernetes_requests_total").keys() >= {("GET",), ("POST",)}
    assert told.value("bc_fleetd_passes_running") == 0
    assert_bounded_and_without_secrets(told, fleet)

    fleet.scene.clock.advance(timedelta(minutes=7).total_seconds())
    later = scrape(metrics)
    assert later.value("bc_fleetd_units_due") == 1
    assert 60 < later.value("bc_fleetd_due_lag_seconds") <= 420


def test_what_a_provider_and_a_cluster_refuse_is_counted_by_its_type(fleet: Fleet) -> None:
    fleet, metrics = watched(fleet)
    fleet.join_all(document())
    before = scrape(metrics)
    fleet.scene.engine.faults.add("aws", "*", THROTTLED, times=1)
    fleet.one_pass()
    assert set(changes(before, scrape(metrics), "bc_fleetd_passes_total")) == {("pool", "settled")}, (
        "it was tried again"
    )
    errors = changes(before, scrape(metrics), "bc_fleetd_provider_call_errors_total")
    assert [(provider, error) for _call, error, provider in errors] == [("aws", "Throttled")]

    fleet.scene.engine.faults.add("aws", "*", DENIED, times=None)
    fleet.scene.engine.faults.add("kubernetes", "*", DOWN, times=None)
    before = scrape(metrics)
    fleet.one_pass()
    after = scrape(metrics)
    refused = changes(before, after, "bc_fleetd_provider_call_errors_total")
    assert {error for _call, error, _provider in refused} == {"PermissionDenied"}
    assert set(changes(before, after, "bc_fleetd_passes_total")) == {("pool", "error")}
    fleet.scene.engine.faults.clear()
    fleet.scene.engine.faults.add("kubernetes", "*", DOWN, times=None)
    fleet.one_pass()
    unreachable = changes(after, scrape(metrics), "bc_fleetd_kubernetes_request_errors_total")
    assert {error for error, _method in unreachable} == {"ClusterUnreachable"}


def test_what_a_call_of_the_api_asks_a_provider_is_counted_too(fleet: Fleet) -> None:
    fleet, metrics = watched(fleet)
    [pool_id] = fleet.apply(document())
    [call] = [call for call in CALLS if call.path.endswith("kubernetesSubstrates/get")]
    seen: list[object] = []

    def asks_a_provider(session: Session, _body: object) -> Any:
        with session.store.read() as tx:
            [account] = fleet_rows.accounts(tx)
        seen.append(session.open_driver(account).node_places())

    body = call.takes.model_validate({"tenantId": "platform", "poolId": pool_id})
    replace(call, does=asks_a_provider).do(fleet.session, body)
    assert seen
    assert scrape(metrics).value("bc_fleetd_provider_calls_total", provider="aws", call="describe_subnets") == 1


def test_a_fault_and_a_lost_lease_are_outcomes_too(fleet: Fleet) -> None:
    fleet, metrics = watched(fleet)
    [pool_id] = fleet.apply(document())
    before = scrape(metrics)

    def jammed(_account: object) -> None:
        raise RuntimeError("the provider's door is jammed")

    [lease] = passes.claim_due(fleet.session, limit=1)
    with pytest.raises(RuntimeError):
        passes.run_leased(replace(fleet.session, open_driver=jammed), lease)  # type: ignore[arg-type]  # it never returns
    fleet.scene.clock.advance(600)
    [lapsed] = passes.claim_due(fleet.session, limit=1)
    fleet.scene.clock.advance(61)
    passes.run_leased(fleet.session, lapsed)
    ended = changes(before, scrape(metrics), "bc_fleetd_passes_total")
    assert ended == {("pool", "fault"): 1, ("pool", "lease_lost"): 1}
    assert lease.unit == lapsed.unit == pool_id


def test_a_pass_that_changes_something_is_told_once_and_one_at_rest_is_not(
    fleet: Fleet, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    caplog.handler.addFilter(carry_pass)
    fleet.apply(document())
    fleet.one_pass()
    [line] = [Logfmt(traces=False).format(record) for record in caplog.records if "pass" in record.getMessage()]
    assert 'event="a pass ended"' in line
    assert f"pool={fleet.pool_id} pass={fleet.pool_id[-8:]}-1 outcome=converging state=provisioning" in line
    assert re.search(r' seconds=[0-9]+\.[0-9]{3} next_in=[0-9]+ said="', line)

    fleet.live(until=fleet.at_rest, minutes=30)
    caplog.clear()
    fleet.one_pass()
    assert [record for record in caplog.records if "pass" in record.getMessage()] == []
    assert current_pass() is None
