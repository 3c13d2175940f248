# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What passes and the calls that they make count: the listener of model/telemetry.py."""

from __future__ import annotations

from collections.abc import Callable

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.pass_end import PassEnd, PassOutcome
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.telemetry import CurrentPass

_PASS_SECONDS = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 20.0, 40.0, 60.0, 120.0)
"""From a pass at rest to two lives of its lease."""

_CALL_SECONDS = (0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 20.0)
"""From a near API to the longest that an outside call may take."""


class PassMetrics:
    """Counters of this process's passes: a Telemetry."""

    def __init__(self, registry: CollectorRegistry, *, workers: int) -> None:
        """Everything begins at 0, also what has not happened yet: an alert can then see the first time.

        Arguments:
            workers: passes that may run at once.
        """
        self._passes = Counter(
            "bc_fleetd_passes",
            "Passes that ended in this process, over pools and over clusters without a pool, by outcome",
            ("kind", "outcome"),
            registry=registry,
        )
        self._seconds = Histogram(
            "bc_fleetd_pass_duration_seconds",
            "How long one pass took",
            ("kind",),
            buckets=_PASS_SECONDS,
            registry=registry,
        )
        self._running = Gauge(
            "bc_fleetd_passes_running", "Passes that run in this process, those that hang too", registry=registry
        )
        self._hanging = Gauge(
            "bc_fleetd_passes_hanging",
            "Passes of this process that lost their lease, were given up, and have not come back",
            registry=registry,
        )
        Gauge(
            "bc_fleetd_workers",
            "Passes that may run in this process at once, without those that hang",
            registry=registry,
        ).set(workers)
        self._calls = Counter(
            "bc_fleetd_provider_calls",
            "API calls sent to providers, each try of its own, by the SDK's name for the call",
            ("provider", "call"),
            registry=registry,
        )
        self._call_errors = Counter(
            "bc_fleetd_provider_call_errors",
            "API calls to providers that failed, by type: Throttled, PermissionDenied, StockedOut and so on",
            ("provider", "call", "error"),
            registry=registry,
        )
        self._call_seconds = Histogram(
            "bc_fleetd_provider_call_duration_seconds",
            "How long a provider took to answer one API call",
            ("provider",),
            buckets=_CALL_SECONDS,
            registry=registry,
        )
        self._requests = Counter(
            "bc_fleetd_kubernetes_requests",
            "Requests sent to clusters' Kubernetes APIs, by HTTP method",
            ("method",),
            registry=registry,
        )
        self._request_errors = Counter(
            "bc_fleetd_kubernetes_request_errors",
            "Requests to clusters' Kubernetes APIs that failed, by type: ClusterUnreachable, ClusterConflict and so on;"
            " what is looked for and is not there (ClusterObjectMissing) is no fault",
            ("method", "error"),
            registry=registry,
        )
        self._request_seconds = Histogram(
            "bc_fleetd_kubernetes_request_duration_seconds",
            "How long a cluster's Kubernetes API took to answer one request",
            buckets=_CALL_SECONDS,
            registry=registry,
        )
        for kind in ("pool", "cluster"):
            self._seconds.labels(kind)
            for outcome in PassOutcome:
                self._passes.labels(kind, outcome.value)

    def count_hanging(self, count: Callable[[], int]) -> None:
        """Have each scrape ask how many passes hang."""
        self._hanging.set_function(count)

    def pass_began(self, current: CurrentPass) -> None:  # noqa: ARG002 -- which one it is does not matter here
        """A pass begins."""
        self._running.inc()

    def pass_ended(self, current: CurrentPass, end: PassEnd, *, seconds: float) -> None:
        """It ended."""
        kind = "cluster" if current.of_cluster else "pool"
        self._running.dec()
        self._passes.labels(kind, end.outcome.value).inc()
        self._seconds.labels(kind).observe(seconds)

    def provider_called(self, *, provider: str, call: str, error: str, seconds: float) -> None:
        """A provider was sent one API call."""
        self._calls.labels(provider, call).inc()
        self._call_seconds.labels(provider).observe(seconds)
        if error:
            self._call_errors.labels(provider, call, error).inc()

    def cluster_called(self, *, method: str, error: str, seconds: float) -> None:
        """A cluster's API was sent one request."""
        self._requests.labels(method).inc()
        self._request_seconds.observe(seconds)
        if error:
            self._request_errors.labels(method, error).inc()
