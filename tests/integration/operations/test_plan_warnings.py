# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a plan warns of is one line for each cause, however many pools it is about."""

from __future__ import annotations

from dataclasses import replace

from ansible_collections.better_compute.fleet.emulators.engine import Error
from ansible_collections.better_compute.fleet.plugins.module_utils._core.documents.load import parse_document
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.findings import AGENT_MISSING
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations import fleet as fleets
from ansible_collections.better_compute.fleet.tests.support.life.fleet_at_hand import Fleet
from ansible_collections.better_compute.fleet.tests.support.life.world import document

REFUSED = Error(status=400, code="InvalidParameterException", message="not to our taste")


def test_a_cause_that_many_pools_have_is_one_line_with_their_names(fleet: Fleet) -> None:
    many = document()
    many["pools"] = [{**many["pools"][0], "name": f"pool-{number}"} for number in range(7)]
    many["quotas"] = []
    fleet.settle(fleet.apply(many))
    fleet.scene.engine.faults.add("aws", "eks.DescribeCluster", REFUSED, times=None)
    without_agent = replace(fleet.session, settings=replace(fleet.session.settings, agent=None))
    planned = fleets.plan_fleet(without_agent, parse_document(many), prune=False, refresh=True)
    named = "pool pool-0, pool-1, pool-2, pool-3, pool-4 and 2 more: "
    unasked, agent = planned.warnings
    assert unasked.startswith(f"{named}drift is not known, provider account managed-k8s said: ")
    assert agent == f"{named}{AGENT_MISSING}"
