# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a plan makes of the providers: which have a driver, what fits them, what drift at them means."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ansible_collections.better_compute.fleet.plugins.module_utils._core.documents.accounts import ACCOUNT_MODELS
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.capabilities import CAPABILITIES
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.clock import SystemClock
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.declared import Taint
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import (
    Code,
    InvalidInput,
    OperationError,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.observed import (
    NodeBounds,
    ObservedNodePool,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.states import ProviderStatus
from ansible_collections.better_compute.fleet.plugins.module_utils._core.planning import Records
from ansible_collections.better_compute.fleet.plugins.module_utils._core.planning.changes import Resource
from ansible_collections.better_compute.fleet.plugins.module_utils._core.planning.fields import FIELDS, OnDrift
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.contract import NodePoolSpec
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.eks.comparison import differences
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.opening import open_driver
from ansible_collections.better_compute.fleet.tests.support import rows
from ansible_collections.better_compute.fleet.tests.support.fleet_documents import (
    account_of,
    changed,
    put,
)
from ansible_collections.better_compute.fleet.tests.support.planned_fleet import EMPTY, FLAVOR, planned, recorded, told

NAMES_OF_THE_PROVIDERS = {"totalNodes": "nodes", "image": None}
"""Paths of differences that are not a flavor's fields: what they stand for; None for what no document says."""


def test_every_provider_that_a_document_may_name_has_its_row() -> None:
    assert set(ACCOUNT_MODELS) == set(CAPABILITIES)


def test_a_provider_of_another_version_is_unsupported() -> None:
    with pytest.raises(OperationError) as caught:
        open_driver(rows.account(provider="azure", config={}), clock=SystemClock())
    assert caught.value.code == Code.UNSUPPORTED


def test_what_the_table_says_of_drift_is_what_the_driver_can_do() -> None:
    spec = NodePoolSpec(
        name="a",
        machine_type="m1",
        nodes=4,
        places=("one", "two"),
        spot=False,
        disk_gib=100,
        gpus_per_node=0,
        labels={"a": "1"},
        labels_declared=True,
        taints=(Taint(key="a", effect="NoExecute"),),
        tags={},
        bounds=NodeBounds(least=2, most=8),
        disk_type="x",
    )
    held = ObservedNodePool(
        name="a",
        status=ProviderStatus.ACTIVE,
        machine_type="m2",
        nodes=1,
        spot=True,
        disk_gib=20,
        labels={"b": "1"},
        tags={},
        bounds=NodeBounds(least=1, most=1),
        places=frozenset({"one"}),
        image="AL2_x86_64_GPU",
    )
    rules = FIELDS[Resource.NODE_POOL]
    found = {NAMES_OF_THE_PROVIDERS.get(item.path, item.path): item.in_place for item in differences(spec, held)}
    found.pop(None, None)
    assert {path: rules[path or ""].drift for path in found} == {
        path: OnDrift.REPAIR if in_place else OnDrift.REPORT for path, in_place in found.items()
    }
    assert set(found) == {path for path, rule in rules.items() if rule.drift != OnDrift.IGNORE}


def test_a_name_that_is_too_long_at_the_provider_is_refused_with_both_lengths(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(CAPABILITIES, "aws", replace(CAPABILITIES["aws"], max_node_pool_name=12))
    with pytest.raises(InvalidInput) as caught:
        planned(changed(f"{FLAVOR}.name", "a" * 13), Records())
    (problem,) = caught.value.problems
    assert problem.path == "pools[0].policy.substrate.flavors[0].name"
    assert "has 13 characters; EKS takes at most 12" in problem.message


@pytest.mark.parametrize("provider", ["gcp", "digitalocean"])
def test_an_account_that_no_pool_stands_on_can_be_recorded_changed_and_pruned(provider: str) -> None:
    data = {"version": 1, "providerAccounts": [account_of(provider, "spare")]}
    records = recorded(data)
    assert planned(data, records).changes == ()
    other = put(data, "providerAccounts.0.config.credential", {"file": "/etc/secret"})
    assert told(planned(other, records)) == ["update account spare"]
    assert told(planned(EMPTY, records, prune=True)) == ["delete account spare"]


def test_what_an_account_is_for_never_changes() -> None:
    records = recorded({"version": 1, "providerAccounts": [account_of("gcp", "spare")]})
    data = {"version": 1, "providerAccounts": [account_of("gcp", "spare", projectId="another-project")]}
    assert told(planned(data, records)) == ["blocked account spare"]
    data = {"version": 1, "providerAccounts": [account_of("digitalocean", "spare")]}
    made = planned(data, records)
    assert told(made) == ["blocked account spare"]
    assert made.blocked[0].note.startswith("provider, config.projectId, config.region cannot change in place")
