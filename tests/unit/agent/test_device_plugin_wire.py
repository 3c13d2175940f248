# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The device plugin API's messages, byte for byte as Kubernetes' own library writes them."""

from __future__ import annotations

from typing import Any

import pytest

from bcd.device_plugin import wire

DEVICES = ["GPU-0", "GPU-1"]

# Written by the Go types of k8s.io/kubelet v0.34.4, pkg/apis/deviceplugin/v1beta1, with the same values.
WRITTEN_IN_GO: tuple[tuple[Any, dict[str, Any], str], ...] = (
    (wire.Empty, {}, ""),
    (
        wire.DevicePluginOptions,
        {"pre_start_required": True, "get_preferred_allocation_available": True},
        "08011001",
    ),
    (
        wire.RegisterRequest,
        {
            "version": wire.API_VERSION,
            "endpoint": "bcd.sock",
            "resource_name": "bc.dev/gpu",
            "options": {"get_preferred_allocation_available": True},
        },
        "0a077631626574613112086263642e736f636b1a0a62632e6465762f67707522021001",
    ),
    (
        wire.ListAndWatchResponse,
        {"devices": [{"ID": "GPU-0", "health": wire.HEALTHY}, {"ID": "GPU-1", "health": wire.UNHEALTHY}]},
        "0a100a054750552d3012074865616c7468790a120a054750552d311209556e6865616c746879",
    ),
    (
        wire.PreferredAllocationRequest,
        {
            "container_requests": [
                {"available_deviceIDs": DEVICES, "must_include_deviceIDs": ["GPU-1"], "allocation_size": 2}
            ]
        },
        "0a170a054750552d300a054750552d3112054750552d311802",
    ),
    (
        wire.PreferredAllocationResponse,
        {"container_responses": [{"deviceIDs": DEVICES}]},
        "0a0e0a054750552d300a054750552d31",
    ),
    (wire.AllocateRequest, {"container_requests": [{"devices_ids": DEVICES}]}, "0a0e0a054750552d300a054750552d31"),
    (
        wire.AllocateResponse,
        {
            "container_responses": [
                {
                    "envs": {"NVIDIA_VISIBLE_DEVICES": "GPU-0"},
                    "mounts": [
                        {
                            "container_path": "/usr/local/nvidia",
                            "host_path": "/home/kubernetes/bin/nvidia",
                            "read_only": True,
                        }
                    ],
                    "devices": [{"container_path": "/dev/nvidia0", "host_path": "/dev/nvidia0", "permissions": "rw"}],
                }
            ]
        },
        "0a770a1f0a164e56494449415f56495349424c455f4445564943455312054750552d3012320a112f7573722f6c6f63616c2f6e766964"
        "6961121b2f686f6d652f6b756265726e657465732f62696e2f6e766964696118011a200a0c2f6465762f6e766964696130120c2f646576"
        "2f6e7669646961301a027277",
    ),
)


@pytest.mark.parametrize(
    ("message", "values", "written"), WRITTEN_IN_GO, ids=lambda value: getattr(value, "__name__", "")
)
def test_a_message_has_the_bytes_that_kubernetes_gives_it(message: Any, values: dict[str, Any], written: str) -> None:
    assert message(**values).SerializeToString().hex() == written
    assert message.FromString(bytes.fromhex(written)) == message(**values)


def test_fields_that_bcd_does_not_know_are_skipped() -> None:
    # A device with a topology, as in the published description: field 3, which this table leaves out.
    assert wire.Device.FromString(bytes.fromhex("0a054750552d301a040a020801")).ID == "GPU-0"
