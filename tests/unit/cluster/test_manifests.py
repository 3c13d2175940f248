# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""bcd's manifests: what they promise to the container, and where its pods run."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from ansible_collections.better_compute.fleet.plugins.module_utils._core.cluster.manifests import agent_manifests
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.agent import AgentSettings
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.ids import PoolId
from bcd.device_plugin.contents import DRIVER_MOUNT
from bcd.settings import DEVICE_PLUGINS

POOL = PoolId("pool_01k00000000000000000000000")
LABEL = "better-compute.dev/substrate-pool"
SETTINGS = AgentSettings(
    image="registry.example/bcd:1.0",
    gateway_url="https://gateway.example:7443",
    pins=("cGlu", "b3RoZXI="),
    control_plane_url="https://control.example",
    runtime_class="nvidia",
)


def manifests(settings: AgentSettings = SETTINGS) -> dict[str, dict[str, Any]]:
    return {manifest["kind"]: manifest for manifest in agent_manifests(pool_id=POOL, agent=settings)}


def template(settings: AgentSettings = SETTINGS) -> dict[str, Any]:
    found: dict[str, Any] = manifests(settings)["DaemonSet"]["spec"]["template"]
    return found


def test_every_object_carries_the_pools_label() -> None:
    assert [(kind, manifest["metadata"]["labels"][LABEL]) for kind, manifest in manifests().items()] == [
        ("Namespace", POOL),
        ("ConfigMap", POOL),
        ("DaemonSet", POOL),
    ]


def test_the_pods_run_on_exactly_the_labelled_nodes_whatever_their_taints() -> None:
    pod = template()["spec"]
    assert pod["nodeSelector"] == {LABEL: POOL}
    assert pod["tolerations"] == [{"operator": "Exists"}]


def test_the_join_container_runs_before_the_main_one() -> None:
    pod = template()["spec"]
    assert [container["command"] for container in pod["initContainers"]] == [["bcd", "join"]]
    assert [container["command"] for container in pod["containers"]] == [["bcd", "run"]]


@pytest.mark.parametrize("group", ["initContainers", "containers"])
def test_a_container_gets_the_settings_from_the_config_map(group: str) -> None:
    (container,) = template()["spec"][group]
    data = manifests()["ConfigMap"]["data"]
    environment = {
        variable["name"]: data[variable["valueFrom"]["configMapKeyRef"]["key"]]
        for variable in container["env"]
        if "configMapKeyRef" in variable.get("valueFrom", {})
    }
    assert environment == {
        "BCD_GATEWAY_URL": "https://gateway.example:7443",
        "BCD_PINS": "cGlu,b3RoZXI=",
        "BCD_CONTROL_PLANE_URL": "https://control.example",
        "BCD_RESOURCE_NAME": "bc.dev/gpu",
    }


@pytest.mark.parametrize("group", ["initContainers", "containers"])
def test_a_container_knows_its_node_its_state_folder_and_the_tokens_file(group: str) -> None:
    (container,) = template()["spec"][group]
    environment = {variable["name"]: variable for variable in container["env"]}
    assert environment["BCD_NODE_NAME"]["valueFrom"]["fieldRef"]["fieldPath"] == "spec.nodeName"
    assert environment["BCD_STATE_DIR"]["value"] == "/var/lib/bcd"
    assert environment["BCD_JOIN_TOKEN_FILE"]["value"] == "/var/run/bcd/join/token"


def test_the_join_secret_is_an_optional_volume_of_both_containers_for_a_running_bcd_may_have_to_join_again() -> None:
    pod = template()["spec"]
    (volume,) = [volume for volume in pod["volumes"] if "secret" in volume]
    assert volume["secret"]["optional"] is True
    mounted = [
        container["name"]
        for container in [*pod["initContainers"], *pod["containers"]]
        if any(mount["name"] == volume["name"] for mount in container["volumeMounts"])
    ]
    assert mounted == ["join", "run"]


def test_the_main_container_has_the_folder_in_which_bcd_looks_for_the_kubelet() -> None:
    pod = template()["spec"]
    (mount,) = [m for m in pod["containers"][0]["volumeMounts"] if m["name"] == "device-plugins"]
    (volume,) = [v for v in pod["volumes"] if v["name"] == "device-plugins"]
    assert mount["mountPath"] == volume["hostPath"]["path"] == str(DEVICE_PLUGINS)
    assert not mount.get("readOnly")


@pytest.mark.parametrize("group", ["initContainers", "containers"])
def test_where_no_runtime_brings_the_driver_both_containers_see_the_nodes(group: str) -> None:
    (_namespace, _config, daemon_set) = agent_manifests(pool_id=POOL, agent=SETTINGS, driver_folder="/opt/nvidia")
    pod = daemon_set["spec"]["template"]["spec"]
    (container,) = pod[group]
    paths = {volume["name"]: volume.get("hostPath", {}).get("path") for volume in pod["volumes"]}
    mounted = {mount["mountPath"]: paths[mount["name"]] for mount in container["volumeMounts"]}
    assert (mounted[DRIVER_MOUNT], mounted["/dev"]) == ("/opt/nvidia", "/dev")
    assert {"name": "BCD_DRIVER_DIR", "value": "/opt/nvidia"} in container["env"]


def test_where_the_runtime_brings_the_driver_nothing_more_of_the_node_is_mounted() -> None:
    assert [volume["name"] for volume in template()["spec"]["volumes"]] == ["state", "device-plugins", "join"]
    assert "BCD_DRIVER_DIR" not in str(template())


def test_the_pods_hold_no_credential_for_the_kubernetes_api() -> None:
    assert template()["spec"]["automountServiceAccountToken"] is False


def test_a_setting_that_is_not_given_is_an_empty_value_and_not_a_missing_key() -> None:
    bare = dataclasses.replace(SETTINGS, control_plane_url=None)
    assert manifests(bare)["ConfigMap"]["data"]["BCD_CONTROL_PLANE_URL"] == ""


@pytest.mark.parametrize(
    "change",
    [
        {"gateway_url": "https://other.example"},
        {"pins": ("cGlu",)},
        {"control_plane_url": None},
        {"resource_name": "x/y"},
    ],
)
def test_a_changed_setting_rolls_the_pods(change: dict[str, Any]) -> None:
    assert template(dataclasses.replace(SETTINGS, **change)) != template()


def test_the_same_settings_never_roll_the_pods() -> None:
    assert template(dataclasses.replace(SETTINGS)) == template()
