# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which machine is which Node, and which machines are gone."""

from __future__ import annotations

from datetime import timedelta

import pytest

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.liveness import Listening
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.states import NodeState
from ansible_collections.better_compute.fleet.plugins.module_utils._core.nodes.matching import (
    CONFIRM_SECONDS,
    Gone,
    Matching,
)
from ansible_collections.better_compute.fleet.tests.support.machines_and_nodes import (
    NOW,
    SILENT,
    compare,
    listed,
    machine,
    matched,
    retired,
)
from ansible_collections.better_compute.fleet.tests.support.rows import START

SECOND = timedelta(seconds=1)


def owner_of(matching: Matching, node_id: str) -> str | None:
    return next((one.node_uid for one in matching.to_record if one.node_id == node_id), None)


def test_a_machine_is_matched_by_the_node_name_that_its_bcd_reports() -> None:
    found = compare([machine("ip-1", hostname="something-else")], [listed("ip-1")])
    assert [(one.node_name, one.node_uid, one.state) for one in found.to_record] == [
        ("ip-1", "uid-ip-1", NodeState.MATCHED)
    ]


def test_a_bcd_that_reports_no_node_name_is_matched_by_its_hostname_in_lower_case() -> None:
    found = compare([machine("x", reported_node_name=None, hostname="IP-1")], [listed("ip-1")])
    assert [one.node_name for one in found.to_record] == ["ip-1"]


def test_a_match_that_is_recorded_is_not_recorded_again() -> None:
    found = compare([matched("ip-1")], [listed("ip-1")])
    assert (found.to_record, found.joined, found.waiting) == ((), 1, ())


def test_a_node_of_a_spot_flavor_gets_the_capacity_label() -> None:
    found = compare([machine("ip-1", labels={"kept": "yes"})], [listed("ip-1", spot=True)])
    assert [(one.spot, one.labels) for one in found.to_record] == [(True, {"kept": "yes", "bc.dev/capacity": "spot"})]


def test_a_cordoned_node_stays_cordoned_when_it_is_matched() -> None:
    found = compare([machine("ip-1", state=NodeState.CORDONED)], [listed("ip-1")])
    assert [one.state for one in found.to_record] == [NodeState.CORDONED]


def test_a_connected_bcd_whose_node_is_not_listed_is_unmatched_and_stays() -> None:
    found = compare([machine("ip-1")], [])
    assert (found.unmatched, found.to_record, found.to_retire) == (("node_ip-1",), (), ())


def test_a_node_whose_bcd_is_connected_is_never_retired() -> None:
    assert retired(compare([matched("ip-1")], [])) == set()


def test_a_disconnected_node_whose_node_is_listed_is_not_retired() -> None:
    found = compare([matched("ip-1", seen=SILENT)], [listed("ip-1")])
    assert (retired(found), found.joined, found.waiting, found.unconnected) == (set(), 1, (), 1)


def test_a_disconnected_node_whose_node_is_gone_is_retired() -> None:
    found = compare([matched("ip-1", seen=SILENT)], [])
    assert [(one.node.id, one.why) for one in found.to_retire] == [("node_ip-1", Gone.NODE_MISSING)]


def test_an_unknown_list_matches_and_retires_nobody() -> None:
    found = compare([matched("ip-1", seen=SILENT), machine("ip-2")], None, vanished_at=START)
    assert found == Matching(known=False, vanished_at=START)


@pytest.mark.parametrize(
    "mark",
    [
        pytest.param(None, id="no gateway ever"),
        pytest.param(Listening(since=START, heard_at=NOW - timedelta(minutes=10)), id="gateway down for ten minutes"),
        pytest.param(Listening(since=NOW - 20 * SECOND, heard_at=NOW), id="gateway just started"),
    ],
)
def test_silence_that_nobody_listened_to_retires_nobody(mark: Listening | None) -> None:
    assert retired(compare([matched("ip-1", seen=SILENT)], [], listening=mark)) == set()


def test_a_machine_that_never_was_matched_is_retired_when_it_is_silent_and_its_node_is_gone() -> None:
    assert retired(compare([machine("ip-1", seen=SILENT)], [])) == {"ip-1"}


class TestANewUidUnderAnOldName:
    def test_the_old_machine_is_gone_when_it_is_disconnected(self) -> None:
        found = compare([matched("ip-1", seen=SILENT)], [listed("ip-1", uid="new")])
        assert [one.why for one in found.to_retire] == [Gone.NEW_MACHINE]
        assert (found.joined, found.waiting) == (0, ("ip-1",))

    def test_the_new_machine_is_matched_while_the_old_one_may_still_be_connected(self) -> None:
        old = matched("ip-1", seen=NOW - 20 * SECOND)
        new = machine("ip-1", id="node_new", joined=NOW - 5 * SECOND)
        found = compare([old, new], [listed("ip-1", uid="new")])
        assert (owner_of(found, "node_new"), found.to_retire) == ("new", ())

    def test_a_bcd_that_was_heard_long_after_the_new_node_appeared_is_the_same_machine(self) -> None:
        node = listed("ip-1", uid="new", age=timedelta(minutes=5))
        found = compare([matched("ip-1")], [node])
        assert (owner_of(found, "node_ip-1"), found.to_retire) == ("new", ())

    @pytest.mark.parametrize(
        ("joined_ago", "owner"), [(10, "uid-ip-1"), (60, None)], ids=["joined on it", "joined before it"]
    )
    def test_a_bcd_that_was_matched_to_none_before_is_of_the_machine_on_which_it_joined(
        self, joined_ago: int, owner: str | None
    ) -> None:
        node = machine("ip-1", joined=NOW - joined_ago * SECOND, seen=NOW - 10 * SECOND)
        found = compare([node], [listed("ip-1", age=20 * SECOND)])
        assert (owner_of(found, "node_ip-1"), found.waiting) == (owner, () if owner else ("ip-1",))

    def test_a_bcd_that_was_last_heard_about_when_the_new_node_appeared_is_left_open(self) -> None:
        node = listed("ip-1", uid="new", age=20 * SECOND)
        found = compare([matched("ip-1", seen=NOW - 15 * SECOND)], [node])
        assert (found.to_record, found.to_retire, found.waiting) == ((), (), ("ip-1",))


class TestAMachineMadeAnewAroundTheSameGpus:
    """Its bcd has joined anew as the node that it was before, on a Node of another UID."""

    @pytest.mark.parametrize(("joined_ago", "anew"), [(60, True), (3600, False)], ids=["on the Node", "before it"])
    def test_is_another_one_when_its_identity_is_of_the_new_node_too(self, joined_ago: int, anew: bool) -> None:
        node = matched("ip-1", joined=NOW - joined_ago * SECOND)
        found = compare([node], [listed("ip-1", uid="new", age=timedelta(minutes=5))])
        assert [(one.node_uid, one.new_machine) for one in found.to_record] == [("new", anew)]

    def test_is_the_same_one_when_its_node_is_the_same(self) -> None:
        found = compare(
            [matched("ip-1", joined=NOW - SECOND, state=NodeState.JOINED)], [listed("ip-1", age=60 * SECOND)]
        )
        assert [(one.state, one.new_machine) for one in found.to_record] == [(NodeState.MATCHED, False)]


class TestAnotherMachineUnderTheSameNode:
    def test_it_takes_the_place_of_one_that_fell_silent_before_it_joined(self) -> None:
        old = matched("ip-1", seen=SILENT)
        new = machine("ip-1", id="node_new", joined=SILENT + 30 * SECOND)
        found = compare([old, new], [listed("ip-1")])
        assert ([one.node.id for one in found.to_retire], owner_of(found, "node_new")) == (["node_ip-1"], "uid-ip-1")

    def test_it_takes_no_place_of_one_that_was_heard_after_it_joined(self) -> None:
        old = matched("ip-1", seen=SILENT)
        impostor = machine("ip-1", id="node_impostor", joined=SILENT - timedelta(minutes=5))
        found = compare([old, impostor], [listed("ip-1")])
        assert (found.to_retire, found.to_record, found.unmatched) == ((), (), ("node_impostor",))

    def test_a_later_one_that_never_was_matched_is_kept_though_it_fell_silent(self) -> None:
        later = machine("ip-1", id="node_later", joined=SILENT - SECOND, seen=SILENT)
        assert retired(compare([matched("ip-1"), later], [listed("ip-1")])) == set()

    def test_it_waits_while_the_one_before_may_be_connected(self) -> None:
        new = machine("ip-1", id="node_new", joined=NOW - SECOND)
        found = compare([matched("ip-1", seen=NOW - 25 * SECOND), new], [listed("ip-1")])
        assert (found.to_retire, found.to_record, found.unmatched) == ((), (), ("node_new",))


class TestMostNodesMissingAtOnce:
    def test_a_second_list_must_confirm_before_anybody_is_retired(self) -> None:
        nodes = [matched(f"ip-{n}", seen=SILENT) for n in range(4)]
        first = compare(nodes, [listed("ip-0")], desired_total=4)
        assert (retired(first), first.vanished_at, first.to_confirm) == (set(), NOW, True)
        too_soon = NOW + (CONFIRM_SECONDS - 1) * SECOND
        mark = Listening(since=START, heard_at=too_soon)
        second = compare(
            nodes, [listed("ip-0")], desired_total=4, vanished_at=first.vanished_at, now=too_soon, listening=mark
        )
        assert (retired(second), second.vanished_at) == (set(), NOW)
        later = NOW + CONFIRM_SECONDS * SECOND
        mark = Listening(since=START, heard_at=later)
        third = compare(
            nodes, [listed("ip-0")], desired_total=4, vanished_at=second.vanished_at, now=later, listening=mark
        )
        assert (retired(third), third.to_confirm) == ({"ip-1", "ip-2", "ip-3"}, False)

    def test_a_list_that_is_whole_again_clears_the_mark(self) -> None:
        nodes = [matched(f"ip-{n}") for n in range(4)]
        found = compare(nodes, [listed(f"ip-{n}") for n in range(4)], desired_total=4, vanished_at=START)
        assert (found.vanished_at, found.to_confirm) == (None, False)

    def test_a_scale_down_that_was_asked_for_needs_no_confirmation(self) -> None:
        nodes = [matched(f"ip-{n}", seen=SILENT) for n in range(4)]
        assert retired(compare(nodes, [listed("ip-0")], desired_total=1)) == {"ip-1", "ip-2", "ip-3"}

    def test_while_nobody_knows_how_many_were_asked_for_every_one_needs_it(self) -> None:
        nodes = [matched(f"ip-{n}", seen=SILENT) for n in range(4)]
        for there in (0, 1):
            found = compare(nodes, [listed(f"ip-{n}") for n in range(there)], desired_total=None)
            assert (retired(found), found.to_confirm) == (set(), True)
        assert retired(compare(nodes, [listed("ip-0"), listed("ip-1")], desired_total=None)) == {"ip-2", "ip-3"}

    def test_one_of_several_missing_needs_no_confirmation(self) -> None:
        nodes = [matched(f"ip-{n}", seen=SILENT) for n in range(4)]
        found = compare(nodes, [listed(f"ip-{n}") for n in range(3)], desired_total=4)
        assert retired(found) == {"ip-3"}

    def test_an_empty_list_alone_retires_nobody_whether_matched_or_not(self) -> None:
        for nodes in ([matched("ip-1", seen=SILENT)], [machine("ip-1", seen=SILENT)]):
            found = compare(nodes, [], desired_total=1)
            assert (retired(found), found.to_confirm) == (set(), True)

    def test_it_is_confirmed_from_when_somebody_was_to_be_retired(self) -> None:
        talking = [matched(f"ip-{n}") for n in range(3)]
        found = compare(talking, [], desired_total=4)
        assert (found.vanished_at, found.to_confirm) == (None, False), "Nodes may be gone for long while bcds go on"
        found = compare([*talking, matched("ip-3", seen=SILENT)], [], desired_total=4, vanished_at=found.vanished_at)
        assert (retired(found), found.vanished_at) == (set(), NOW)

    def test_a_machine_whose_name_another_has_needs_no_confirmation(self) -> None:
        nodes = [matched("ip-0", seen=SILENT), *(matched(f"ip-{n}", seen=SILENT) for n in range(1, 4))]
        found = compare(nodes, [listed("ip-0", uid="new")], desired_total=4)
        assert (retired(found), found.to_confirm) == ({"ip-0"}, True)


class TestWaitingNodes:
    def test_a_node_without_a_bcd_waits(self) -> None:
        found = compare([matched("ip-1")], [listed("ip-1"), listed("ip-2")])
        assert (found.listed, found.joined, found.waiting, found.unconnected) == (2, 1, ("ip-2",), 1)

    def test_a_node_whose_bcd_has_been_heard_does_not_wait_though_it_is_disconnected(self) -> None:
        found = compare([machine("ip-1", seen=SILENT)], [listed("ip-1")])
        assert (found.waiting, found.unconnected) == ((), 1)

    def test_a_join_that_no_heartbeat_followed_waits_again_because_its_answer_was_lost(self) -> None:
        found = compare([machine("ip-1", joined=SILENT, seen=SILENT)], [listed("ip-1")])
        assert (found.waiting, found.unconnected) == (("ip-1",), 1)

    def test_a_join_of_just_now_does_not_wait_for_its_first_heartbeat(self) -> None:
        found = compare([machine("ip-1", joined=NOW, seen=NOW)], [listed("ip-1")])
        assert (found.waiting, found.unconnected) == ((), 0)

    def test_a_bcd_of_which_nothing_is_known_needs_no_token(self) -> None:
        found = compare([matched("ip-1", seen=SILENT)], [listed("ip-1")], listening=None)
        assert (found.waiting, found.unconnected) == ((), 0)


def test_a_retired_machine_stands_for_no_node() -> None:
    found = compare([matched("ip-1", state=NodeState.RETIRED)], [listed("ip-1")])
    assert (found.joined, found.waiting, found.to_retire) == (0, ("ip-1",), ())


def test_the_node_pools_of_which_a_node_joined_are_named() -> None:
    cluster = [listed("ip-1", node_pool="h100"), listed("ip-2", node_pool="spot"), listed("ip-3", node_pool=None)]
    found = compare([matched("ip-1"), matched("ip-3")], cluster)
    assert found.joined_node_pools == {"h100"}


def test_a_renamed_machine_is_matched_to_the_node_that_it_reports_now() -> None:
    renamed = matched("ip-1", reported_node_name="ip-9")
    found = compare([renamed], [listed("ip-9", age=NOW - START)])
    assert (owner_of(found, "node_ip-1"), found.to_retire) == ("uid-ip-9", ())
