# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Plans with a cluster to adopt: refused in this version, and its id the substrate's identity once it is not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model import provider_fit
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.declared import AdoptCluster
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import Code, OperationError
from ansible_collections.better_compute.fleet.plugins.module_utils._core.planning import Records
from ansible_collections.better_compute.fleet.plugins.module_utils._core.store.shapes import (
    plain_substrate,
    substrate_of,
)
from ansible_collections.better_compute.fleet.tests.support.fleet_documents import changed, example
from ansible_collections.better_compute.fleet.tests.support.planned_fleet import SUBSTRATE, planned, told

PATH = "policy.substrate.cluster"


def adopting(cluster_id: str) -> dict[str, Any]:
    return changed(f"{SUBSTRATE}.cluster", {"adopt": cluster_id})


@pytest.fixture
def adopted(records: Records) -> Records:
    """The records as they are once the pool's cluster was adopted."""
    (pool,) = records.pools
    assert pool.substrate is not None
    substrate = substrate_of(
        plain_substrate(replace(pool.substrate, cluster=AdoptCluster(id="us-east-1/prod")))  # as the store keeps it
    )
    return replace(records, pools=(replace(pool, substrate=substrate),))


@pytest.fixture
def can_adopt(monkeypatch: pytest.MonkeyPatch) -> None:
    """A version that can."""
    monkeypatch.setattr(provider_fit, "CAN_ADOPT", True)


def test_a_plan_that_adopts_is_refused_with_its_path(records: Records) -> None:
    for standing in (Records(), records):
        with pytest.raises(OperationError) as caught:
            planned(adopting("us-east-1/prod"), standing)
        assert caught.value.code == Code.UNSUPPORTED
        assert str(caught.value) == (
            f"pools[0].{PATH}.adopt: pool gpu-fleet is to adopt cluster us-east-1/prod, which this version cannot do "
            "yet: give cluster.create, or leave the pool out"
        )


@pytest.mark.usefixtures("can_adopt")
def test_the_same_cluster_in_another_spelling_is_no_change(adopted: Records) -> None:
    assert planned(adopting("US-EAST-1/prod"), adopted).changes == ()


@pytest.mark.usefixtures("can_adopt")
def test_another_cluster_is_another_pool(adopted: Records) -> None:
    made = planned(adopting("us-east-1/other"), adopted)
    assert told(made) == ["blocked cluster gpu-fleet"]
    assert made.changes[0].note == f"{PATH}.adopt cannot change in place: create a new pool instead"
    assert [(field.before, field.after) for field in made.changes[0].fields] == [("us-east-1/prod", "us-east-1/other")]


@pytest.mark.usefixtures("can_adopt")
def test_a_cluster_that_was_made_is_never_adopted_instead(records: Records) -> None:
    made = planned(adopting("us-east-1/prod"), records)
    assert told(made) == ["blocked cluster gpu-fleet"]
    assert f"{PATH}.adopt cannot change in place: create a new pool instead" in made.changes[0].note


def test_a_cluster_that_was_adopted_is_never_made_instead(adopted: Records) -> None:
    made = planned(example(), adopted)
    assert told(made) == ["blocked cluster gpu-fleet"]
    assert f"{PATH}.adopt cannot change in place: create a new pool instead" in made.changes[0].note
