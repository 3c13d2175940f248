# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""docs/operations.md: its paths are the role's, its ports the settings', its names the product's."""

from __future__ import annotations

import re
from typing import Any

import pytest
import yaml

from ansible_collections.better_compute.fleet.plugins.module_utils._core.documents.setting_keys import SECTIONS
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model import labels
from ansible_collections.better_compute.fleet.tests.support.pages import CHECKOUT, DOCS, blocks, prose

PAGE = DOCS / "operations.md"


@pytest.fixture(scope="module")
def role() -> dict[str, Any]:
    """The role's defaults."""
    found: dict[str, Any] = yaml.safe_load((CHECKOUT / "roles" / "fleetd" / "defaults" / "main.yml").read_text())
    return found


def test_what_is_removed_is_what_the_role_made(role: dict[str, Any]) -> None:
    (block,) = re.findall(r"^ +systemctl disable.*?^ +```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    words = set(block.split())
    assert words >= {
        f"{role['fleetd_unit_dir']}/bc-fleetd.service",
        role["fleetd_program_link"],
        role["fleetd_venv"].rpartition("/")[0],
        role["fleetd_config_dir"],
        role["fleetd_state_dir"],
        role["fleetd_user"],
    }


def test_a_restored_file_is_the_daemons(role: dict[str, Any]) -> None:
    (block,) = [block for block in blocks(PAGE, "text") if "install" in block]
    database = f"{role['fleetd_state_dir']}/fleet.db"
    assert f"-o {role['fleetd_user']} -g {role['fleetd_group']} -m 0660 /srv/backup/fleet.db {database}\n" in block
    assert f"{database}-wal {database}-shm" in block


def test_the_ports_are_the_defaults() -> None:
    text = prose(PAGE)
    for section in ("gateway", "api"):
        assert f"| `{section}.listen_port`, {SECTIONS[section]['listen_port'].default} |" in text


def test_the_tag_by_which_ours_is_found_at_a_provider_is_the_one_that_is_set() -> None:
    assert f"`{labels.CLUSTER}`" in prose(PAGE)
