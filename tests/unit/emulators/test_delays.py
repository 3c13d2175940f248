# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Records of delays, shortened as a whole."""

from __future__ import annotations

from dataclasses import asdict

from ansible_collections.better_compute.fleet.emulators.aws import Timings as AwsTimings
from ansible_collections.better_compute.fleet.emulators.gcp import Timings as GcpTimings
from ansible_collections.better_compute.fleet.emulators.machines import MachineTimes


def test_haste_shortens_how_long_machines_take() -> None:
    slow, fast = asdict(MachineTimes()), asdict(MachineTimes().divided_by(100))
    assert fast == {name: seconds / 100 for name, seconds in slow.items()}


def test_haste_leaves_the_patience_with_which_a_cloud_waits_for_machines() -> None:
    slow, fast = AwsTimings(), AwsTimings().divided_by(100)
    assert (fast.cluster_create, fast.node_wait) == (slow.cluster_create / 100, slow.node_wait)
    slow_, fast_ = GcpTimings(), GcpTimings().divided_by(100)
    assert (fast_.cluster_create, fast_.capacity_wait) == (slow_.cluster_create / 100, slow_.capacity_wait)
