# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""bc_fleet_info and bc_substrate_info; and that every module documents each field that it returns."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import yaml

from ansible_collections.better_compute.fleet.tests.support.fleet_documents import put
from ansible_collections.better_compute.fleet.tests.support.life.world import document
from ansible_collections.better_compute.fleet.tests.support.module_runs import Modules, Result

from .conftest import MakeModules


def test_what_is_recorded_is_returned_as_the_document_said_it(modules: Modules) -> None:
    modules.run("bc_fleet", config=document(), wait=False)
    info = modules.run("bc_fleet_info")
    assert not info["changed"]
    assert info["sites"] == [{"name": "k8s", "kind": "shared", "region": "us-east-1", "tenant_id": "platform"}]
    [account] = info["provider_accounts"]
    assert account["config"] == document()["providerAccounts"][0]["config"]
    assert account["zones"] == ["us-east-1a", "us-east-1b"]
    [pool] = info["pools"]
    assert (pool["name"], pool["site"], pool["gpu_model"]) == ("gpu-fleet", "k8s", "H100")
    assert [(one["name"], one["node_count"], one["spot"]) for one in pool["node_pools"]] == [
        ("h100", 1, False),
        ("h100-spot", 1, True),
    ]
    pool_id = info["pools"][0]["id"]
    assert info["quotas"] == [{"pool": "gpu-fleet", "pool_id": pool_id, "tenant_id": "platform", "gpus": 16, "used": 0}]


def test_a_substrate_tells_who_waits_to_join(modules: Modules) -> None:
    modules.run("bc_fleet", config=document())
    modules.fleet.live(until=lambda: modules.fleet.view().record.waiting_nodes > 0, minutes=10)
    [substrate] = modules.run("bc_substrate_info", pool="gpu-fleet")["substrates"]
    assert (substrate["mode"], substrate["provider"], substrate["provider_account"]) == ("create", "aws", "managed-k8s")
    assert substrate["nodes_listed"] == substrate["nodes_joined"] + substrate["waiting_to_join"]["nodes"]
    assert substrate["waiting_to_join"]["since"].endswith("Z")
    assert modules.run("bc_substrate_info", pool=substrate["pool_id"])["substrates"] == [substrate]
    assert modules.run("bc_substrate_info")["substrates"] == [substrate]
    assert modules.run("bc_substrate_info", tenant="acme")["substrates"] == []


def test_a_pool_that_is_unknown_or_has_no_substrate_is_not_found(modules: Modules) -> None:
    modules.run("bc_fleet", config=put(document(), "pools.0.policy", {}))
    for pool, tenant in (("other", "platform"), ("gpu-fleet", "acme"), ("gpu-fleet", "platform")):
        refused = modules.run("bc_substrate_info", pool=pool, tenant=tenant)
        assert (refused["failed"], refused["code"]) == (True, "NOT_FOUND")
    assert modules.run("bc_substrate_info")["substrates"] == []


ALWAYS_THERE = {"changed", "failed", "msg", "diff", "invocation", "warnings"}


def test_the_self_check_tells_of_settings_without_an_agent_and_of_nothing_else(make_modules: MakeModules) -> None:
    modules = make_modules(BC_FLEET_AGENT_IMAGE="", BC_FLEET_AGENT_GATEWAY_URL="", BC_FLEET_AGENT_PINS="")
    assert modules.run("bc_fleet_info")["self_check"] == []
    modules.run("bc_fleet", config=document(), wait=False)
    [finding] = modules.run("bc_fleet_info")["self_check"]
    assert (finding["code"], finding["pools"]) == ("kubernetes.substrate-agent-missing", ["gpu-fleet"])
    [substrate] = modules.run("bc_substrate_info")["substrates"]
    assert (substrate["state"], substrate["message"]) == ("error", finding["message"])


def _undocumented(value: Any, documented: dict[str, Any], path: str) -> list[str]:
    """Fields of a returned value that its module's RETURN does not describe, where it describes any."""
    items = value if isinstance(value, list) else [value]
    found = []
    for item in items:
        for name, below in item.items() if isinstance(item, dict) else ():
            if name not in documented:
                found.append(f"{path}.{name}")
            elif "contains" in documented[name]:
                found += _undocumented(below, documented[name]["contains"], f"{path}.{name}")
    return found


def _check(module: str, result: Result) -> None:
    package = "ansible_collections.better_compute.fleet.plugins.modules"
    documented = yaml.safe_load(import_module(f"{package}.{module}").RETURN)
    returned = {name: value for name, value in result.items() if name not in ALWAYS_THERE}
    assert _undocumented(returned, documented, module) == []


def test_every_returned_field_is_documented(modules: Modules) -> None:
    _check("bc_fleet", modules.run("bc_fleet", config=document()))
    _check("bc_fleet", modules.run("bc_fleet", config={"version": 2}))
    _check("bc_fleet_info", modules.run("bc_fleet_info", drift=True))
    _check("bc_substrate", modules.run("bc_substrate", pool="gpu-fleet"))
    _check("bc_substrate", modules.run("bc_substrate", pool="gpu-fleet", flavors=[]))
    _check("bc_substrate_info", modules.run("bc_substrate_info"))
    _check("bc_substrate_info", modules.run("bc_substrate_info", pool="other"))
    system = {"name": "system", "machine_type": "m7i.large", "node_count": 1}
    _check("bc_nodepool", modules.run("bc_nodepool", pool="gpu-fleet", node_pools=[system], wait=False))
    _check("bc_nodepool", modules.run("bc_nodepool", pool="gpu-fleet", node_pools=[{"name": "Ü"}]))
    _check("bc_nodepool_info", modules.run("bc_nodepool_info"))
    _check("bc_nodepool_info", modules.run("bc_nodepool_info", pool="other"))
    _check("bc_node_info", modules.run("bc_node_info"))
    _check("bc_node_info", modules.run("bc_node_info", pool="other"))
    _check("bc_reservation", modules.run("bc_reservation", pool="gpu-fleet", name="one", gpus=1))
    _check("bc_reservation", modules.run("bc_reservation", pool="gpu-fleet", name="one", gpus=99))
    _check("bc_reservation_info", modules.run("bc_reservation_info"))
    _check("bc_reservation_info", modules.run("bc_reservation_info", pool="other"))
    cluster = {"name": "web", "account": "managed-k8s", "location": "us-east-1", "node_pools": [system]}
    _check("bc_cluster", modules.run("bc_cluster", clusters=[cluster]))
    _check("bc_cluster", modules.run("bc_cluster", clusters=[{"name": "Ü"}]))
    _check("bc_cluster_info", modules.run("bc_cluster_info"))
    _check("bc_cluster_info", modules.run("bc_cluster_info", cluster_id="other"))
