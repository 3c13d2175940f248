# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""bcd's environment: read whole, refused whole."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ansible_collections.better_compute.fleet.tests.support.pages import CHECKOUT, keyed_rows
from bcd.errors import SettingsError
from bcd.settings import Variable, read_settings

PIN = "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="

GOOD = {
    "BCD_GATEWAY_URL": "https://gateway.example:8443/bc/",
    "BCD_PINS": f"{PIN}, {'A' * 43}=",
    "BCD_NODE_NAME": "ip-10-0-0-1.ec2.internal",
    "BCD_STATE_DIR": "/var/lib/bcd",
    "BCD_JOIN_TOKEN_FILE": "/var/run/bcd/join/token",
}


def test_every_setting_is_read() -> None:
    settings = read_settings(
        GOOD
        | {"BCD_RESOURCE_NAME": "example.com/gpu", "BCD_CONTROL_PLANE_URL": "https://api.example"}
        | {"BCD_DEVICE_PLUGIN_DIR": "/var/snap/kubelet/device-plugins", "BCD_DRIVER_DIR": "/opt/nvidia"}
    )
    assert settings.driver_dir == Path("/opt/nvidia")
    assert settings.device_plugin_dir == Path("/var/snap/kubelet/device-plugins")
    assert settings.gateway == "https://gateway.example:8443/bc"
    assert len(settings.pins) == 2
    assert settings.state_dir == Path("/var/lib/bcd")
    assert settings.resource_name == "example.com/gpu"
    assert settings.control_plane_url == "https://api.example"


def test_what_is_empty_is_not_set() -> None:
    settings = read_settings(GOOD | {"BCD_RESOURCE_NAME": "", "BCD_CONTROL_PLANE_URL": "", "BCD_DEVICE_PLUGIN_DIR": ""})
    assert settings.device_plugin_dir is None
    assert settings.resource_name == "bc.dev/gpu"
    assert settings.control_plane_url is None


def test_an_empty_environment_is_answered_with_everything_that_is_missing() -> None:
    with pytest.raises(SettingsError) as raised:
        read_settings({})
    assert [problem.partition(":")[0] for problem in raised.value.problems] == list(GOOD)


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("BCD_GATEWAY_URL", "http://gateway.example", "https://host[:port]"),
        ("BCD_GATEWAY_URL", "https://gateway.example:99999", "https://host[:port]"),
        ("BCD_GATEWAY_URL", "https://user:pw@gateway.example", "https://host[:port]"),
        ("BCD_PINS", ",", "at least one pin"),
        ("BCD_PINS", f"{PIN},c2hvcnQ=", "'c2hvcnQ=' is not the base64 of a SHA-256"),
        ("BCD_NODE_NAME", "Not A Node", "the name of a Kubernetes Node"),
        ("BCD_NODE_NAME", "node\n", "the name of a Kubernetes Node"),
        ("BCD_STATE_DIR", "var/lib", "an absolute path"),
        ("BCD_RESOURCE_NAME", "gpu", "an extended resource"),
        ("BCD_CONTROL_PLANE_URL", "ftp://x", "must be a URL"),
        ("BCD_DEVICE_PLUGIN_DIR", "device-plugins", "an absolute path"),
        ("BCD_DRIVER_DIR", "nvidia", "an absolute path"),
    ],
)
def test_what_makes_no_sense_is_named_with_what_was_expected(name: str, value: str, told: str) -> None:
    with pytest.raises(SettingsError) as raised:
        read_settings(GOOD | {name: value})
    assert len(raised.value.problems) == 1
    assert raised.value.problems[0].startswith(f"{name}: ")
    assert told in raised.value.problems[0]
    assert "pw" not in str(raised.value)


class _Asked(dict[str, str]):
    """An environment that remembers what was asked of it."""

    def __init__(self, held: dict[str, str]) -> None:
        super().__init__(held)
        self.names: set[str] = set()

    def get(self, name: str, default: object = None) -> Any:
        self.names.add(name)
        return super().get(name, default)


def test_what_the_help_lists_is_what_is_read_and_says_what_is_required() -> None:
    asked = _Asked(GOOD)
    read_settings(asked)
    assert asked.names == {one.name for one in Variable}
    assert {one.name for one in Variable if one.value.startswith("required: ")} == set(GOOD)
    lines = Variable.table().splitlines()
    assert [line.split()[0] for line in lines] == [one.name for one in Variable]
    assert max(map(len, lines)) <= 120


def test_the_agents_page_has_every_variable_and_no_other() -> None:
    rows = keyed_rows(CHECKOUT / "agent" / "README.md")
    assert [name for name in rows if name.startswith("BCD_")] == [one.name for one in Variable]
