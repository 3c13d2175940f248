# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The cases about calls that fail, each of a whole life: cluster, access, node pool, all changes, the end."""

from __future__ import annotations

import contextlib
import dataclasses

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.declared import Taint
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.observed import NodeBounds

from .life import COME_AGAIN, Drive, Pass, bring_up, count_node_pools, done, smallest, tear_down
from .subject import Breakage, Case, Subject

_MOST_PASSES = 1000
"""Several times what a life takes in which each call is broken."""


def _broken_at_every_call(breakage: Breakage, *, settles: bool, broken: list[int]) -> Drive:
    """Break each call of each pass once: the first, then, in the pass that comes again, the second, … until one ends.

    Then all that goes on comes to its end, and the next pass is another one. So it is, too, after a call that changed
    something: it begins anew with the first. In this way one life does for all its calls.

    Arguments:
        settles: whether all that goes on at the provider comes to its end before a pass comes again.
        broken: is given the place of each call that was broken, within its pass.
    """

    def drive(subject: Subject, one_pass: Pass) -> None:
        nth = 1
        for _pass in range(_MOST_PASSES):
            calls, writes = subject.calls(), subject.writes()
            subject.break_call(nth, breakage)
            as_wanted = done(one_pass)
            if subject.calls() - calls >= nth:
                broken.append(nth)
                nth = nth + 1 if subject.writes() == writes else 1
                if settles:
                    subject.settle()
                continue
            _use_up(subject, until=calls + nth)
            if as_wanted:
                return
            subject.settle()
            nth = 1
        raise AssertionError("it never became as wanted")

    return drive


def _use_up(subject: Subject, *, until: int) -> None:
    """Make calls until the one has come that was to be broken."""
    while subject.calls() < until:
        with contextlib.suppress(*COME_AGAIN):
            subject.open().get_cluster(subject.cluster)


def _a_broken_call_does_no_harm(subject: Subject, breakage: Breakage) -> None:
    old, new = subject.versions[:2]
    step = smallest(subject)
    first = dataclasses.replace(subject.node_pool, nodes=step)
    grown = dataclasses.replace(
        first,
        nodes=2 * step,
        bounds=NodeBounds(least=2 * step, most=5 * step),
        labels={**first.labels, "team": "blue"},
        labels_declared=True,
        taints=(Taint(key="team", effect="NoSchedule", value="blue"),),
        version=new,
    )
    for settles in (False, True):
        broken: list[int] = []
        drive = _broken_at_every_call(breakage, settles=settles, broken=broken)
        bring_up(subject, first, version=old, drive=drive)
        bring_up(subject, grown, version=new, drive=drive)
        assert count_node_pools(subject) == 1
        tear_down(subject, drive=drive)
        assert list(subject.leftovers()) == []
        assert len(broken) > 10


def a_lost_reply_does_no_harm_at_any_call(subject: Subject) -> None:
    _a_broken_call_does_no_harm(subject, Breakage.LOST_REPLY)


def throttling_does_no_harm_at_any_call(subject: Subject) -> None:
    _a_broken_call_does_no_harm(subject, Breakage.THROTTLED)


def a_server_error_does_no_harm_at_any_call(subject: Subject) -> None:
    _a_broken_call_does_no_harm(subject, Breakage.SERVER_ERROR)


def a_time_out_does_no_harm_at_any_call(subject: Subject) -> None:
    _a_broken_call_does_no_harm(subject, Breakage.TIMED_OUT)


FAULTS: tuple[Case, ...] = (
    a_lost_reply_does_no_harm_at_any_call,
    throttling_does_no_harm_at_any_call,
    a_server_error_does_no_harm_at_any_call,
    a_time_out_does_no_harm_at_any_call,
)
