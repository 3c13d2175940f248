# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The engine: faults strike the calls they name, the log tells what happened, the inventory what exists."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ansible_collections.better_compute.fleet.emulators.engine import (
    Answer,
    Call,
    Engine,
    Error,
    Hook,
    InjectedError,
    LostReply,
    ReplyLost,
    VirtualClock,
)

CREATE = Call(cloud="aws", name="eks.CreateCluster", target="one", mutating=True)
READ = Call(cloud="aws", name="eks.DescribeCluster", target="one")


class Effect:
    """Counts how often it happened."""

    def __init__(self, status: int = 200) -> None:
        self.status = status
        self.times = 0

    def __call__(self) -> Answer:
        self.times += 1
        return Answer(status=self.status)


@pytest.fixture
def engine() -> Iterator[Engine]:
    engine = Engine(VirtualClock())
    yield engine
    engine.close()


def test_an_error_strikes_the_nth_matching_call_before_its_effect(engine: Engine) -> None:
    engine.faults.add("aws", "eks.Create*", Error(status=429, code="TooManyRequestsException", message="slow"), nth=2)
    effect = Effect()
    engine.handle(CREATE, effect)
    engine.handle(READ, effect)
    with pytest.raises(InjectedError, match="TooManyRequestsException"):
        engine.handle(CREATE, effect)
    engine.handle(CREATE, effect)
    assert effect.times == 3
    assert [entry.status for entry in engine.log.entries()] == [200, 200, 429, 200]


def test_a_lost_reply_comes_after_the_effect_and_counts_as_a_write(engine: Engine) -> None:
    engine.faults.add("*", "*", LostReply())
    effect = Effect()
    with pytest.raises(ReplyLost):
        engine.handle(CREATE, effect)
    assert effect.times == 1
    (entry,) = engine.log.writes()
    assert entry.lost


def test_a_hook_sees_the_call_on_both_sides_of_its_effect(engine: Engine) -> None:
    effect = Effect()
    seen: list[tuple[str, int]] = []
    hook = Hook(
        on_before=lambda call: seen.append((call.name, effect.times)),
        on_after=lambda call: seen.append((call.name, effect.times)),
    )
    fault = engine.faults.add("aws", "*", hook, times=None)
    engine.handle(READ, effect)
    assert seen == [("eks.DescribeCluster", 0), ("eks.DescribeCluster", 1)]
    engine.faults.remove(fault)
    engine.handle(READ, effect)
    assert fault.struck == 1


def test_a_fault_for_a_target_leaves_other_targets_alone(engine: Engine) -> None:
    engine.faults.add("aws", "*", Error(status=500, code="ServerException", message=""), target="two", times=None)
    engine.handle(READ, Effect())
    with pytest.raises(InjectedError):
        engine.handle(Call(cloud="aws", name="eks.DescribeCluster", target="two"), Effect())


def test_a_refused_write_is_no_write(engine: Engine) -> None:
    engine.handle(CREATE, Effect(status=409))
    assert engine.log.writes() == ()
    assert engine.log.counts() == {"aws eks.CreateCluster": 1}


def test_the_log_after_a_mark_holds_only_what_came_later(engine: Engine) -> None:
    engine.handle(CREATE, Effect())
    mark = engine.log.mark
    engine.handle(READ, Effect())
    assert [entry.call for entry in engine.log.entries(after=mark)] == [READ]


def test_an_emulator_that_breaks_leaves_a_500_in_the_log(engine: Engine) -> None:
    def breaks() -> Answer:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        engine.handle(READ, breaks)
    assert engine.log.entries()[0].status == 500


def test_the_inventory_counts_the_machines_of_all_clouds(engine: Engine) -> None:
    engine.inventory.add("aws", "machine", "i-1", zone="us-east-1a")
    engine.inventory.add("gcp", "machine", "vm-1")
    engine.inventory.add("aws", "cluster", "one")
    engine.inventory.remove("aws", "cluster", "two")
    assert engine.inventory.machines() == 2
    engine.inventory.remove("aws", "machine", "i-1")
    assert [item.id for item in engine.inventory.items(kind="machine")] == ["vm-1"]


def test_an_operation_ends_on_the_clock_and_only_once(engine: Engine) -> None:
    clock = engine.clock
    assert isinstance(clock, VirtualClock)
    done: list[str] = []
    operation = engine.operations.begin(kind="create", target="one", seconds=60, finish=lambda: done.append("one"))
    other = engine.operations.begin(kind="create", target="two", seconds=60, finish=lambda: done.append("two"))
    engine.operations.cancel(other)
    clock.advance(59)
    assert engine.operations.running() == (operation,)
    clock.advance(600)
    assert done == ["one"]
    assert engine.operations.running("one") == ()
