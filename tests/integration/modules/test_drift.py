# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Somebody changes a thing at the provider: bc_fleet_info tells it, check mode plans the same, a run puts it back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import boto3
import pytest

from ansible_collections.better_compute.fleet.emulators.aws.account import REGION
from ansible_collections.better_compute.fleet.emulators.engine import Error
from ansible_collections.better_compute.fleet.tests.support.fleet_documents import put
from ansible_collections.better_compute.fleet.tests.support.life.drivers import drivers_opened_once
from ansible_collections.better_compute.fleet.tests.support.life.world import document
from ansible_collections.better_compute.fleet.tests.support.module_runs import Modules, Result

REFUSED = Error(status=400, code="InvalidParameterException", message="the key is not to our taste")
GPU_TAINT = {"key": "gpu", "value": "yes", "effect": "NoSchedule"}
FIXED, SCALED = "gpu-fleet/h100", "gpu-fleet/h100-spot"
OUR_LABELS = {"better-compute.dev/substrate-pool", "better-compute.dev/capacity"}


def declared() -> dict[str, Any]:
    """A fixed flavor with labels and taints, and one with autoscaling."""
    data = document()
    fixed, scaled = data["pools"][0]["policy"]["substrate"]["flavors"]
    fixed.update(labels={"team": "a"}, taints=[GPU_TAINT])
    scaled.update(autoscaling={"minNodes": 1, "maxNodes": 3})
    return data


class Hands:
    """Somebody with the account's keys, and no idea of the product."""

    def __init__(self, modules: Modules) -> None:
        scene = modules.fleet.scene
        self.name = modules.fleet.cluster().name
        self.clock = scene.clock
        self.console = scene.world.aws.console
        self.eks: Any = boto3.client(
            "eks",
            region_name=REGION,
            endpoint_url=scene.world.aws.url,
            aws_access_key_id=scene.environment["AWS_ACCESS_KEY_ID"],
            aws_secret_access_key=scene.environment["AWS_SECRET_ACCESS_KEY"],
        )

    def resize(self) -> None:
        self.console.edit_node_group(self.name, "h100", scaling={"minSize": 3, "desiredSize": 3, "maxSize": 3})

    def move_the_bounds(self) -> None:
        self.console.edit_node_group(self.name, "h100-spot", scaling={"maxSize": 5})

    def label(self) -> None:
        labels = self.eks.describe_nodegroup(clusterName=self.name, nodegroupName="h100")["nodegroup"]["labels"]
        self.console.edit_node_group(self.name, "h100", labels={**labels, "team": "b"})

    def take_the_taint_off(self) -> None:
        self.console.edit_node_group(self.name, "h100", taints=[])

    def delete_a_node_group(self, name: str = "h100") -> None:
        self.eks.delete_nodegroup(clusterName=self.name, nodegroupName=name)
        self.clock.advance(60)

    def delete_it_all(self) -> None:
        self.delete_a_node_group("h100")
        self.delete_a_node_group("h100-spot")
        self.eks.delete_cluster(name=self.name)
        self.clock.advance(60)

    def put_another_machine_type_in_its_place(self) -> None:
        group = self.eks.describe_nodegroup(clusterName=self.name, nodegroupName="h100")["nodegroup"]
        self.delete_a_node_group()
        same = ("nodegroupName", "scalingConfig", "subnets", "nodeRole", "amiType", "labels", "taints", "tags")
        kept = {key: group[key] for key in same}
        self.eks.create_nodegroup(clusterName=self.name, **kept, instanceTypes=["p5en.48xlarge"])
        self.clock.advance(60)


CASES: dict[str, tuple[Callable[[Hands], None], list[tuple[str, str, Any, Any, bool]]]] = {
    "size": (Hands.resize, [(FIXED, "totalNodes", 2, 3, True)]),
    "bounds": (Hands.move_the_bounds, [(SCALED, "autoscaling.maxNodes", 3, 5, True)]),
    "labels": (Hands.label, [(FIXED, "labels", {"team": "a"}, {"team": "b"}, True)]),
    "taints": (Hands.take_the_taint_off, [(FIXED, "taints", [GPU_TAINT], [], True)]),
    "missing node group": (Hands.delete_a_node_group, [(FIXED, "exists", True, False, True)]),
    "missing cluster": (
        Hands.delete_it_all,
        [(name, "exists", True, False, True) for name in ("gpu-fleet", FIXED, SCALED)],
    ),
    "shape": (
        Hands.put_another_machine_type_in_its_place,
        [(FIXED, "machineType", "p5.48xlarge", "p5en.48xlarge", False)],
    ),
}


def drifted(result: Result) -> list[tuple[str, str, Any, Any, bool]]:
    """The drifted fields of the one pool."""
    [pool] = result["drift"]
    return [(one["name"], one["path"], one["recorded"], one["provider"], one["repaired"]) for one in pool["fields"]]


@pytest.mark.parametrize("case", CASES)
def test_what_somebody_changed_is_told_planned_in_check_mode_and_put_back(modules: Modules, case: str) -> None:
    change, expected = CASES[case]
    assert not modules.run("bc_fleet", config=declared())["failed"]
    in_sync = modules.run("bc_fleet_info", drift=True)
    assert [(one["pool"], one["state"], one["reason"]) for one in in_sync["drift"]] == [("gpu-fleet", "in_sync", "")]
    change(Hands(modules))
    rows, writes = modules.fleet.rows(), modules.writes()
    info = modules.run("bc_fleet_info", drift=True)
    checked = modules.run("bc_fleet", check=True, config=declared())
    assert (modules.fleet.rows(), modules.writes()) == (rows, writes)
    assert (info["drift"][0]["state"], drifted(info)) == ("drift", expected)
    agree_with(checked, info)
    done = modules.run("bc_fleet", config=declared())
    assert not done["failed"]
    for field in ("changed", "plan", "diff"):
        assert checked[field] == done[field], field
    last = modules.run("bc_fleet_info", drift=True)
    assert last["drift"][0]["state"] == ("in_sync" if done["changed"] else "drift")
    assert not modules.run("bc_fleet", config=declared())["changed"]


def agree_with(checked: Result, info: Result) -> None:
    """Check mode plans each repair that is told, and warns of all the rest."""
    [pool] = info["drift"]
    planned = {
        (change["name"], "exists" if change["kind"] == "create" else field["path"])
        for change in checked["plan"]["changes"]
        for field in change["fields"]
        if field["note"] == "drift"
    }
    assert planned == {(one["name"], one["path"]) for one in pool["fields"] if one["repaired"]}
    assert checked["changed"] == bool(planned)
    for one in pool["fields"]:
        if not one["repaired"]:
            assert any(
                str(one["provider"]) in warning and one["name"] in warning for warning in checked["plan"]["warnings"]
            )
            assert any(one["name"] in str(warning) for warning in checked["warnings"])


def test_what_the_autoscaler_does_within_its_bounds_is_no_drift(modules: Modules) -> None:
    modules.run("bc_fleet", config=declared())
    hands = Hands(modules)
    hands.console.autoscale(hands.name, "h100-spot", 3)
    modules.fleet.scene.clock.advance(600)
    assert modules.run("bc_fleet_info", drift=True)["drift"][0]["state"] == "in_sync"
    assert not modules.run("bc_fleet", check=True, config=declared())["changed"]


def test_drift_that_cannot_be_known_is_said_to_be_unknown_with_the_reason(modules: Modules) -> None:
    modules.run("bc_fleet", config=document(), wait=False)
    [early] = modules.run("bc_fleet_info", drift=True)["drift"]
    assert (early["state"], early["fields"]) == ("unknown", [])
    assert early["reason"].startswith("its cluster is provisioning")
    modules.run("bc_fleet", config=document())
    fault = modules.fleet.scene.engine.faults.add("aws", "eks.DescribeCluster", REFUSED, times=None)
    [blind] = modules.run("bc_fleet_info", drift=True)["drift"]
    assert (blind["state"], blind["fields"]) == ("unknown", [])
    assert "provider account managed-k8s said: DescribeCluster: the key is not to our taste" in blind["reason"]
    modules.fleet.scene.engine.faults.remove(fault)
    assert modules.run("bc_fleet_info", drift=True)["drift"][0]["state"] == "in_sync"


def test_without_being_asked_for_drift_no_provider_is_asked(modules: Modules) -> None:
    modules.run("bc_fleet", config=document(), wait=False)
    calls = len(modules.fleet.scene.engine.log.entries(cloud="aws"))
    assert "drift" not in modules.run("bc_fleet_info")
    assert len(modules.fleet.scene.engine.log.entries(cloud="aws")) == calls


def test_a_wrong_key_warns_of_a_recorded_account_and_fails_a_new_one(
    modules: Modules, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys = modules.fleet.scene.environment
    account = put(document(), "providerAccounts.0.config.credential", {"env": "FLEET"})
    monkeypatch.setenv("FLEET_ACCESS_KEY_ID", keys["AWS_ACCESS_KEY_ID"])
    monkeypatch.setenv("FLEET_SECRET_ACCESS_KEY", "wrong" + keys["AWS_SECRET_ACCESS_KEY"])
    refused = modules.run("bc_fleet", config=account)
    assert refused["failed"]
    assert refused["msg"].startswith("provider account managed-k8s: ")
    assert modules.run("bc_fleet_info")["provider_accounts"] == []
    monkeypatch.setenv("FLEET_SECRET_ACCESS_KEY", keys["AWS_SECRET_ACCESS_KEY"])
    assert not modules.run("bc_fleet", config=account)["failed"]
    monkeypatch.setenv("FLEET_SECRET_ACCESS_KEY", "wrong" + keys["AWS_SECRET_ACCESS_KEY"])
    object.__setattr__(modules.fleet.session, "open_driver", fresh_drivers(modules))
    for module, arguments in (("bc_fleet", {"config": account}), ("bc_substrate", {"pool": "gpu-fleet"})):
        blind = modules.run(module, check=True, **arguments)
        assert (blind["failed"], blind["changed"]) == (False, False)
        assert any("gpu-fleet: drift is not known" in str(warning) for warning in blind["warnings"])
    assert modules.run("bc_fleet_info", drift=True)["drift"][0]["state"] == "unknown"
    assert keys["AWS_SECRET_ACCESS_KEY"] not in "".join(modules.told)


def test_an_account_that_is_recorded_and_was_never_read_is_no_failure_either(
    modules: Modules, monkeypatch: pytest.MonkeyPatch
) -> None:
    modules.fleet.apply(document())
    with monkeypatch.context() as patch:
        patch.setenv("AWS_SECRET_ACCESS_KEY", "wrong")
        object.__setattr__(modules.fleet.session, "open_driver", fresh_drivers(modules))
        planned = modules.run("bc_fleet", check=True, config=document())
    assert (planned["failed"], planned["changed"]) == (False, False)
    assert any("provider account managed-k8s: " in str(warning) for warning in planned["warnings"])


def fresh_drivers(modules: Modules) -> Callable[..., Any]:
    """Drivers that read the environment anew, as another process does."""
    return drivers_opened_once(modules.fleet.scene.clock)
