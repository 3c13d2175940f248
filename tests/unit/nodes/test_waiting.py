# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Since when none has joined."""

from __future__ import annotations

from datetime import timedelta

from ansible_collections.better_compute.fleet.plugins.module_utils._core.nodes.matching import Matching
from ansible_collections.better_compute.fleet.plugins.module_utils._core.nodes.waiting import waiting_since
from ansible_collections.better_compute.fleet.tests.support.machines_and_nodes import NOW, machine

MINUTE = timedelta(minutes=1)
ONE_WAITS = Matching(known=True, listed=1, waiting=("a",), unconnected=1)


def test_it_begins_when_the_first_waiting_node_is_listed() -> None:
    assert waiting_since(ONE_WAITS, [], previous=None, now=NOW) == NOW


def test_it_goes_on_while_none_joins() -> None:
    earlier = machine("ip-1", joined=NOW - 9 * MINUTE)
    assert waiting_since(ONE_WAITS, [earlier], previous=NOW - 5 * MINUTE, now=NOW) == NOW - 5 * MINUTE


def test_it_begins_anew_with_each_join() -> None:
    later = machine("ip-1", joined=NOW - MINUTE)
    assert waiting_since(ONE_WAITS, [later], previous=NOW - 5 * MINUTE, now=NOW) == NOW - MINUTE


def test_it_ends_when_nobody_waits() -> None:
    assert waiting_since(Matching(known=True, listed=1, joined=1), [], previous=NOW, now=NOW) is None


def test_an_unknown_list_leaves_it() -> None:
    assert waiting_since(Matching(known=False), [], previous=NOW - MINUTE, now=NOW) == NOW - MINUTE
