# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A container's paths, without a mount namespace."""

from __future__ import annotations

from pathlib import Path, PurePosixPath
from typing import Any

from ansible_collections.better_compute.fleet.emulators.machines.container_environment import relocate

MOUNTS = {PurePosixPath("/var/lib/bcd"): Path("/machine/state")}


def relocated(entry: dict[str, Any], value: str) -> str:
    return relocate({"NAME": value}, {"env": [{"name": "NAME", **entry}]}, mounts=MOUNTS, root=Path("/machine/root"))[
        "NAME"
    ]


def test_a_path_in_a_mount_lies_where_the_mounts_folder_is() -> None:
    assert relocated({"value": "/var/lib/bcd/identity"}, "/var/lib/bcd/identity") == "/machine/state/identity"


def test_any_other_path_lies_in_what_stands_for_the_containers_file_system() -> None:
    assert relocated({"value": "/etc/passwd"}, "/etc/passwd") == "/machine/root/etc/passwd"


def test_what_comes_from_a_config_map_is_no_path_even_with_a_slash_in_front() -> None:
    from_config_map = {"valueFrom": {"configMapKeyRef": {"name": "bcd", "key": "BCD_PINS"}}}
    assert relocated(from_config_map, "/pins/begin/so/too=") == "/pins/begin/so/too="
