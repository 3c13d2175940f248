# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The daemon's metrics: what is counted, under which names, and what never becomes a label."""

from __future__ import annotations

import pytest

from ansible_collections.better_compute.fleet.daemon.metrics import Metrics
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.census import Census
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import StoreUnavailable
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.pass_end import PassEnd, PassOutcome
from ansible_collections.better_compute.fleet.tests.support.scrapes import scrape
from ansible_collections.better_compute.fleet.tests.support.told_metrics import (
    CLUSTER,
    POOL,
    census,
    everything_told,
    the_pass,
)


@pytest.fixture
def metrics() -> Metrics:
    return Metrics(count=census, workers=4)


def test_the_records_are_told_as_they_are_at_the_scrape(metrics: Metrics) -> None:
    told = scrape(metrics)
    counts = [told.value(f"bc_fleetd_nodes_{what}", pool=POOL) for what in ("listed", "joined", "waiting", "connected")]
    assert counts == [5, 4, 1, 3]
    assert told.value("bc_fleetd_pool_info", pool=POOL, name='a "pool"', tenant="platform") == 1
    assert told.value("bc_fleetd_substrate_state", pool=POOL, state="ready") == 1
    assert told.value("bc_fleetd_substrates", state="ready") == 1
    assert told.value("bc_fleetd_clusters", state="ready") == 2
    assert told.value("bc_fleetd_node_pools", state="error") == 1
    assert told.value("bc_fleetd_node_pools", state="ready") == 0, "a state without any is 0 and not missing"
    work = [told.value(f"bc_fleetd_{what}") for what in ("units", "units_due", "units_leased", "due_lag_seconds")]
    assert work == [3, 2, 1, 90]


def test_without_its_database_a_daemon_still_tells_of_itself() -> None:
    def away() -> Census:
        raise StoreUnavailable("nobody answers at db.example")

    told = scrape(Metrics(count=away, workers=4))
    assert told.value("bc_fleetd_store_up") == 0
    assert "bc_fleetd_nodes_listed" not in told.families, "a gap, and not a fleet of none"
    assert told.value("bc_fleetd_workers") == 4
    assert "db.example" not in told.text


def test_a_pass_is_counted_by_what_it_was_over_and_how_it_ended(metrics: Metrics) -> None:
    metrics.passes.pass_began(the_pass())
    assert scrape(metrics).value("bc_fleetd_passes_running") == 1
    metrics.passes.pass_ended(the_pass(), PassEnd(outcome=PassOutcome.ERROR), seconds=3.0)
    metrics.passes.pass_began(the_pass(CLUSTER))
    metrics.passes.pass_ended(the_pass(CLUSTER), PassEnd(outcome=PassOutcome.SETTLED), seconds=0.1)
    told = scrape(metrics)
    assert told.value("bc_fleetd_passes_running") == 0
    assert told.value("bc_fleetd_passes_total", kind="pool", outcome="error") == 1
    assert told.value("bc_fleetd_passes_total", kind="cluster", outcome="settled") == 1
    assert told.value("bc_fleetd_pass_duration_seconds_bucket", kind="pool", le="2.5") == 0
    assert told.value("bc_fleetd_pass_duration_seconds_bucket", kind="pool", le="5.0") == 1


def test_passes_that_hang_are_counted_when_it_is_asked(metrics: Metrics) -> None:
    hanging = [1]
    metrics.passes.count_hanging(lambda: hanging[0])
    assert scrape(metrics).value("bc_fleetd_passes_hanging") == 1
    hanging[0] = 0
    assert scrape(metrics).value("bc_fleetd_passes_hanging") == 0


def test_each_outcome_is_there_from_the_start_so_that_its_first_time_can_be_seen(metrics: Metrics) -> None:
    outcomes = {labels["outcome"] for labels in scrape(metrics).labels_of("bc_fleetd_passes_total")}
    assert outcomes == {outcome.value for outcome in PassOutcome}


def test_calls_and_their_errors_are_counted_by_provider_call_and_type(metrics: Metrics) -> None:
    for error in ("", "", "Throttled"):
        metrics.passes.provider_called(provider="aws", call="describe_cluster", error=error, seconds=0.2)
    metrics.passes.cluster_called(method="GET", error="", seconds=0.1)
    metrics.passes.cluster_called(method="PATCH", error="ClusterUnreachable", seconds=10.0)
    told = scrape(metrics)
    assert told.value("bc_fleetd_provider_calls_total", provider="aws", call="describe_cluster") == 3
    of_error = {"provider": "aws", "call": "describe_cluster", "error": "Throttled"}
    assert told.value("bc_fleetd_provider_call_errors_total", **of_error) == 1
    assert told.value("bc_fleetd_provider_call_duration_seconds_count", provider="aws") == 3
    assert told.value("bc_fleetd_kubernetes_requests_total", method="GET") == 1
    assert told.value("bc_fleetd_kubernetes_request_errors_total", method="PATCH", error="ClusterUnreachable") == 1


def test_the_gateways_calls_are_counted_and_long_polls_are_not_timed(metrics: Metrics) -> None:
    gateway = metrics.gateway
    gateway.answered("heartbeat", 200, seconds=0.002)
    gateway.answered("bookings", 200, seconds=25.0)
    gateway.answered("/etc/passwd", 404, seconds=0.0)
    gateway.joined(POOL)
    gateway.join_refused("expired")
    with gateway.long_polls.track_inprogress(), gateway.flushes.time():
        assert scrape(metrics).value("bc_fleetd_gateway_long_polls") == 1
    told = scrape(metrics)
    assert told.value("bc_fleetd_gateway_requests_total", call="heartbeat", status="200") == 1
    assert told.value("bc_fleetd_gateway_requests_total", call="other", status="404") == 1
    timed = {labels["call"] for labels in told.labels_of("bc_fleetd_gateway_request_duration_seconds_count")}
    assert timed == {"join", "heartbeat"}
    assert told.value("bc_fleetd_gateway_joins_total", pool=POOL) == 1
    assert told.value("bc_fleetd_gateway_joins_refused_total", reason="expired") == 1
    assert told.value("bc_fleetd_gateway_long_polls") == 0
    assert told.value("bc_fleetd_gateway_flush_duration_seconds_count") == 1


def test_names_are_as_prometheus_wants_them_and_each_says_what_it_is(metrics: Metrics) -> None:
    told = scrape(metrics)
    for name, (kind, documentation) in told.families.items():
        assert name.startswith(("bc_fleetd_", "process_"))
        assert len(documentation) > 20, name
        assert kind in ("counter", "gauge", "histogram"), name
        assert kind != "histogram" or name.endswith("_duration_seconds"), name
    assert not [name for name, _labels in told.samples if name.endswith("_created")]


def test_nothing_that_grows_without_bounds_is_a_label() -> None:
    labels = {name for _sample, labels in scrape(everything_told()).samples for name, _value in labels}
    of_calls = {"provider", "call", "error", "method", "status", "reason"}
    assert labels == {"kind", "outcome", "state", "le", "version", "python", "pool", "name", "tenant"} | of_calls


def test_two_daemons_in_one_process_count_each_for_itself(metrics: Metrics) -> None:
    metrics.passes.pass_began(the_pass())
    assert scrape(Metrics(count=census, workers=1)).value("bc_fleetd_passes_running") == 0
