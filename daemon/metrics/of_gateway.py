# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the gateway counts: calls, joins, heartbeats, long polls and batches."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

CALLS = ("join", "heartbeat", "bookings")
"""The calls that bcd makes."""

_FAST_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 12.0)
"""Around the 250 ms that a join or a heartbeat may take, up to where the gateway gives the database up."""


class GatewayMetrics:
    """Counters of one gateway. Safe to use from many threads.

    Attributes:
        long_polls: to be held up (`track_inprogress`) while somebody waits for a change.
        flushes: times (`time`) the writing of one batch of heartbeats.
    """

    def __init__(self, registry: CollectorRegistry | None = None) -> None:
        """Everything begins at 0.

        Arguments:
            registry: that tells of it; None for a gateway whose numbers nobody asks for.
        """
        into = CollectorRegistry() if registry is None else registry
        self._requests = Counter(
            "bc_fleetd_gateway_requests",
            "Calls of bcd that were answered, by call and HTTP status: 401 is a token or identity that is none now,"
            " 429 an address that showed too many of those; call is other for what is none of bcd's calls",
            ("call", "status"),
            registry=into,
        )
        self._seconds = Histogram(
            "bc_fleetd_gateway_request_duration_seconds",
            "How long bcd waited for its answer; bookings are long polls, whose waiting is meant and not counted here",
            ("call",),
            buckets=_FAST_SECONDS,
            registry=into,
        )
        self._joins = Counter(
            "bc_fleetd_gateway_joins", "Joins that were accepted, repeated ones too", ("pool",), registry=into
        )
        self._refused = Counter(
            "bc_fleetd_gateway_joins_refused", "Joins that were refused, by reason", ("reason",), registry=into
        )
        self.long_polls = Gauge("bc_fleetd_gateway_long_polls", "Nodes that wait for news right now", registry=into)
        self.flushes = Histogram(
            "bc_fleetd_gateway_flush_duration_seconds",
            "How long it took to write one batch of heartbeats to the database",
            buckets=_FAST_SECONDS,
            registry=into,
        )
        for call in CALLS[:2]:
            self._seconds.labels(call)

    def answered(self, call: str, status: int, *, seconds: float) -> None:
        """A call got its answer.

        Arguments:
            call: one of CALLS; anything else counts as `other`.
            status: HTTP's.
            seconds: since it came.
        """
        self._requests.labels(call if call in CALLS else "other", str(status)).inc()
        if call in CALLS[:2]:
            self._seconds.labels(call).observe(seconds)

    def joined(self, pool_id: str) -> None:
        """A machine joined this pool."""
        self._joins.labels(pool_id).inc()

    def join_refused(self, reason: str) -> None:
        """A join was refused, for one of nodes.joining.Refusal."""
        self._refused.labels(reason).inc()
