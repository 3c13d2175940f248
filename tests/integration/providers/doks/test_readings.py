# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What nobody knows for certain about DigitalOcean: the driver lives with either reading."""

from __future__ import annotations

import dataclasses

import pytest

from ansible_collections.better_compute.fleet.emulators.digitalocean import Readings
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import InvalidRequest
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.observed import NodeBounds
from ansible_collections.better_compute.fleet.tests.conformance.faults import a_lost_reply_does_no_harm_at_any_call
from ansible_collections.better_compute.fleet.tests.conformance.life import bring_up, tear_down
from ansible_collections.better_compute.fleet.tests.support.doks_subject import CLUSTER, NODE_POOL, DoksSubject

READINGS = [field.name for field in dataclasses.fields(Readings)]


@pytest.mark.parametrize("turned", READINGS)
def test_a_life_under_the_other_reading_leaves_nothing(ocean: DoksSubject, turned: str) -> None:
    setattr(ocean.cloud.readings, turned, not getattr(ocean.cloud.readings, turned))
    bring_up(ocean, NODE_POOL, version="1.32")
    grown = dataclasses.replace(NODE_POOL, nodes=6, bounds=NodeBounds(least=1, most=9), version="1.33")
    bring_up(ocean, grown, version="1.33")
    tear_down(ocean)
    assert list(ocean.leftovers()) == []


def test_an_account_without_scale_to_zero_or_spot_is_told_so(ocean: DoksSubject) -> None:
    ocean.stand()
    ocean.cloud.readings.scale_to_zero = ocean.cloud.readings.spot_preview = False
    from_zero = dataclasses.replace(NODE_POOL, name="other", nodes=0, bounds=NodeBounds(least=0, most=2))
    for spec, words in ((from_zero, "min nodes"), (dataclasses.replace(NODE_POOL, name="other", spot=True), "spot")):
        with pytest.raises(InvalidRequest, match=words):
            ocean.open().ensure_node_pool(CLUSTER, spec, None)


def test_lost_replies_make_nothing_twice_where_names_need_not_be_unique(ocean: DoksSubject) -> None:
    ocean.cloud.readings.unique_names = False
    a_lost_reply_does_no_harm_at_any_call(ocean)
