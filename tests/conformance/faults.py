# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The cases about calls that fail, each of a whole life: cluster, access, node pool, all changes, the end."""

from __future__ import annotations

import contextlib
import dataclasses
import itertools

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.declared import Taint
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.observed import NodeBounds

from .life import COME_AGAIN, Pass, bring_up, count_node_pools, smallest, tear_down
from .subject import Breakage, Case, Subject

_MOST_PASSES = 200
"""Several times what a life takes in which each call is broken."""


@dataclasses.dataclass(slots=True, kw_only=True)
class _Breaker:
    """Breaks each call of each pass once: the first, then, in the pass that comes again, the second, … until one ends.

    What comes next begins with the first call again: the same once more when something was changed on the way, else
    what it is after all that goes on has come to its end. In this way one life does for all its calls. A call that is
    made again because its reply was lost gets its reply the second time.

    A driver that bears a breakage goes on with its pass, past calls that were not broken yet. Those are for another
    life, which begins each time with the second call, or the third, ….

    Attributes:
        begins: with which call of a pass, counted from 1.
        settles: whether all that goes on at the provider comes to its end before a pass comes again.
        broken: how many calls were broken.
        borne: how many of them did not end their pass.
    """

    breakage: Breakage
    begins: int
    settles: bool
    broken: int = 0
    borne: int = 0

    def drive(self, subject: Subject, one_pass: Pass) -> None:
        """Satisfies life.Drive."""
        nth, writes = self.begins, subject.writes()
        for _pass in range(_MOST_PASSES):
            calls = subject.calls()
            subject.break_call(nth, self.breakage)
            try:
                as_wanted, ended = one_pass(), True
            except COME_AGAIN:
                as_wanted, ended = False, False
            if subject.calls() - calls < nth:
                _use_up(subject, until=calls + nth)
                if as_wanted:
                    return
                if subject.writes() == writes:
                    subject.settle()
                nth, writes = self.begins, subject.writes()
                continue
            self.broken += 1
            self.borne += ended
            nth += 1
            if ended and subject.writes() != writes:
                nth, writes = self.begins, subject.writes()
            if self.settles:
                subject.settle()
        raise AssertionError("it never became as wanted")


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
    for settles in (False, True) if breakage is Breakage.LOST_REPLY else (False,):
        for begins in itertools.count(1):
            breaker = _Breaker(breakage=breakage, begins=begins, settles=settles)
            bring_up(subject, first, version=old, drive=breaker.drive)
            bring_up(subject, grown, version=new, drive=breaker.drive)
            assert count_node_pools(subject) == 1
            tear_down(subject, drive=breaker.drive)
            assert list(subject.leftovers()) == []
            assert breaker.broken > 10 or begins > 1
            if not breaker.borne:
                break


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
