# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Kubernetes versions as EKS writes them."""

from __future__ import annotations

import pytest

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.versions import is_older, next_step


@pytest.mark.parametrize(
    ("held", "wanted", "older"),
    [
        ("1.33", "1.34", True),
        ("1.9", "1.10", True),
        ("1.34", "1.34", False),
        ("1.35", "1.34", False),
        ("1.34.2", "1.34", False),
        ("", "1.34", False),
        ("1.34", "", False),
        ("1.34", "latest", False),
        ("١.٣٣", "1.34", False),
    ],
)
def test_only_an_older_minor_version_is_older(held: str, wanted: str, older: bool) -> None:
    assert is_older(held, wanted) is older


@pytest.mark.parametrize(("held", "wanted", "step"), [("1.32", "1.34", "1.33"), ("1.33", "1.34", "1.34")])
def test_the_way_to_a_newer_version_goes_through_each_one_in_between(held: str, wanted: str, step: str) -> None:
    assert next_step(held, wanted) == step


def test_the_way_to_another_major_version_is_left_for_the_provider_to_judge() -> None:
    assert next_step("1.40", "2.0") == "2.0"
