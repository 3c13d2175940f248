# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The owner's marks survive being DigitalOcean's tags."""

from __future__ import annotations

import re

from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.doks.tags import from_tags, to_tags

MARKS = {"better-compute.dev/cluster": "kcl_01aB", "ä/b": "x:y_2f"}


def test_marks_are_read_back_as_they_were_written() -> None:
    assert from_tags(to_tags(MARKS)) == MARKS


def test_tags_hold_only_what_digitalocean_takes() -> None:
    assert all(re.fullmatch(r"[a-zA-Z0-9_\-:]+", tag) for tag in to_tags(MARKS))


def test_a_tag_of_somebody_else_is_no_mark() -> None:
    assert from_tags(["k8s", "a:b:c", "team_x:blue"]) == {}
