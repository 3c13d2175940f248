# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The load of `make bench`: that it says what the wire allows, and that its clock hides no stall."""

from __future__ import annotations

import asyncio
from collections import Counter
from datetime import timedelta

import pytest

from ansible_collections.better_compute.fleet.tests.benchmarks.daemon_records import begun
from ansible_collections.better_compute.fleet.tests.benchmarks.load_machine import CallFailed, Gateway, Machine
from ansible_collections.better_compute.fleet.tests.benchmarks.load_process import Load, Phase, quantile, send
from ansible_collections.better_compute.fleet.tests.support.gateway_double import GatewayDouble
from ansible_collections.better_compute.fleet.tests.support.rows import START

TOKEN = "bcj_the-token-of-the-test"


def port_of(gateway: GatewayDouble) -> int:
    return int(gateway.url.rpartition(":")[2])


def test_what_the_load_says_is_what_the_wire_allows() -> None:
    async def play() -> None:
        gateway = GatewayDouble()
        await gateway.start()
        gateway.tokens[TOKEN] += 3
        load, at = Load(), Gateway(port=port_of(gateway), pin=gateway.certificate.pin)
        try:
            joins = tuple((TOKEN, f"ip-{number}.ec2.internal") for number in range(3))
            joined = await load.run(Phase(gateway=at, joins=joins, joins_per_second=1000, lively=True))
            beats = await load.run(Phase(gateway=at, seconds=0.1, heartbeats_per_second=200))
        finally:
            load.end()
            await gateway.stop()
        assert gateway.problems == []
        assert (len(joined.joins), joined.failed, beats.failed) == (3, {}, {})
        assert beats.heartbeats

    asyncio.run(play())


def test_another_key_than_the_pinned_one_is_told_nothing() -> None:
    async def play() -> None:
        gateway = GatewayDouble()
        await gateway.start()
        try:
            with pytest.raises(CallFailed, match="another one"):
                await Machine(gateway=Gateway(port=port_of(gateway), pin="another"), name="ip-1").join(TOKEN)
        finally:
            await gateway.stop()

    asyncio.run(play())


def test_a_gateway_that_stalls_is_charged_for_all_that_was_due_meanwhile() -> None:
    taken: list[float] = []

    async def play() -> None:
        answers = asyncio.Event()
        asyncio.get_running_loop().call_later(0.1, answers.set)
        calls = iter([answers.wait] * 3)
        async with asyncio.TaskGroup() as tasks:
            await send(calls, iter([0.0, 0.02, 0.04]), taken, [], Counter(), tasks)

    asyncio.run(play())
    assert sorted(taken) == pytest.approx([0.06, 0.08, 0.1], abs=0.05)
    assert max(taken) >= 0.09


def test_a_quantile_is_a_value_that_was_measured() -> None:
    assert quantile([3.0, 1.0, 2.0], 0.5) == 2.0
    assert quantile([float(number) for number in range(100)], 0.99) == 99.0
    assert quantile([], 0.99) == 0.0


def test_a_pass_is_late_from_when_it_was_due_to_the_look_that_finds_it_begun() -> None:
    before = {"late": (1, START), "early": (4, START + timedelta(hours=1)), "waits": (7, START)}
    after = {"late": (2, START + timedelta(minutes=1)), "early": (5, START), "waits": (7, START), "new": (1, START)}
    assert begun(before, after, now=START + timedelta(seconds=3)) == [3.0, 0.0]
