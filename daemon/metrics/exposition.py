# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The registry with everything in it, and its text for a scrape."""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterator

from prometheus_client import (
    CONTENT_TYPE_PLAIN_0_0_4,
    CollectorRegistry,
    Counter,
    Gauge,
    ProcessCollector,
    generate_latest,
)
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.census import Census
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.retention import Kind

from ..version import collection_version
from .of_fleet import FleetCollector
from .of_gateway import GatewayMetrics
from .of_passes import PassMetrics


class Metrics:
    """All metrics of one daemon.

    Attributes:
        passes: the session's telemetry.
        gateway: what its gateway counts.
    """

    def __init__(self, *, count: Callable[[], Census], workers: int) -> None:
        """A registry of its own: two daemons in one process do not know each other.

        Arguments:
            count: operations.counting.count_fleet of the daemon's session; asked for each scrape.
            workers: passes that may run at once.
        """
        self._registry = CollectorRegistry()
        Gauge(
            "bc_fleetd_build_info",
            "Always 1: which bc-fleetd this is, and which Python runs it",
            ("version", "python"),
            registry=self._registry,
        ).labels(collection_version(), platform.python_version()).set(1)
        self.passes = PassMetrics(self._registry, workers=workers)
        self.gateway = GatewayMetrics(self._registry)
        self._forgotten = Counter(
            "bc_fleetd_forgotten_rows",
            "Rows of history that this process deleted, by kind",
            ("kind",),
            registry=self._registry,
        )
        for kind in Kind:
            self._forgotten.labels(kind.value)
        self._registry.register(FleetCollector(count))
        ProcessCollector(registry=self._registry)

    def forgotten(self, kind: Kind, many: int) -> None:
        """So many rows of a kind were deleted."""
        self._forgotten.labels(kind.value).inc(many)

    def render(self) -> tuple[bytes, str]:
        """One scrape: its body in Prometheus' text format, and its content type.

        It asks the database, so it is not for an event loop's own thread.
        """
        return generate_latest(self._told()), CONTENT_TYPE_PLAIN_0_0_4

    def _told(self) -> CollectorRegistry:
        """A registry of what is told: all but when each series was made, which doubles their number to no use."""
        told = CollectorRegistry()
        told.register(_WithoutCreated(self._registry))
        return told


class _WithoutCreated(Collector):
    def __init__(self, registry: CollectorRegistry) -> None:
        self._registry = registry

    def describe(self) -> list[Metric]:
        return []

    def collect(self) -> Iterator[Metric]:
        for family in self._registry.collect():
            family.samples = [sample for sample in family.samples if not sample.name.endswith("_created")]
            yield family
