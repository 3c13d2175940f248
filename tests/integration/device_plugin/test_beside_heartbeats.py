# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""`bcd run` as a whole with a kubelet: what is booked is served whatever becomes of the gateway, and of the plugin."""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from ansible_collections.better_compute.fleet.tests.support.bcd_bench import Bench, BriskClock, bench
from ansible_collections.better_compute.fleet.tests.support.gateway_double import HEARTBEAT, JOIN
from ansible_collections.better_compute.fleet.tests.support.kubelet_double import KubeletDouble, kubelet_double
from bcd.device_plugin import registration

RESERVATION = "rsv_" + "1" * 26


@asynccontextmanager
async def joined(folder: Path) -> AsyncIterator[tuple[Bench, KubeletDouble]]:
    """A machine that is a node of the pool, with GPU-0 booked and a kubelet."""
    async with kubelet_double() as kubelet, bench(folder) as b:
        b.clock = BriskClock()
        b.device_plugins = kubelet.folder
        b.give_token()
        await b.bcd("join")
        assert kubelet.registered == []
        await b.gateway.book((RESERVATION, ("GPU-0",)))
        yield b, kubelet


async def _follows_the_gateway(folder: Path) -> None:
    async with joined(folder) as (b, kubelet), b.running():
        await kubelet.until_listed(GPU_0="Healthy")
        await b.gateway.book((RESERVATION, ("GPU-0", "GPU-1")))
        await kubelet.until_listed(GPU_0="Healthy", GPU_1="Healthy")
        await b.gateway.book()
        await kubelet.until_listed()


def test_what_the_gateway_says_is_booked_is_what_the_kubelet_is_told(tmp_path: Path) -> None:
    asyncio.run(_follows_the_gateway(tmp_path))


async def _gateway_away(folder: Path) -> None:
    async with joined(folder) as (b, kubelet):
        async with b.running():
            await kubelet.until_listed(GPU_0="Healthy")
            await b.gateway.stop()
            await b.clock.until_waited(30)
            assert [dict(listed) for listed in kubelet.lists[-1:]] == [{"GPU-0": "Healthy"}]
            (container,) = await kubelet.allocate(("GPU-0",))
            assert container.envs["BC_RESERVATION_IDS"] == RESERVATION
        kubelet.lists.clear()
        async with b.running():
            await kubelet.until_listed(GPU_0="Healthy")
            await b.gateway.start()
            await b.gateway.book()
            await kubelet.until_listed()


def test_while_the_gateway_is_away_the_list_stays_also_after_a_restart(tmp_path: Path) -> None:
    asyncio.run(_gateway_away(tmp_path))


async def _another_identity(folder: Path) -> None:
    async with joined(folder) as (b, kubelet), b.running():
        await kubelet.until_listed(GPU_0="Healthy")
        b.gateway.nodes.clear()
        await b.gateway.until(HEARTBEAT, count=len(b.gateway.of(HEARTBEAT)) + 2)
        (container,) = await kubelet.allocate(("GPU-0",))
        assert container.envs["BC_RESERVATION_IDS"] == RESERVATION
        b.give_token("bcj_the-second-token-of-the-test")
        await b.gateway.until(JOIN, count=2)
        await b.gateway.book((RESERVATION, ("GPU-1",)))
        await kubelet.until_listed(GPU_1="Healthy")
        assert {} not in kubelet.lists
        assert len(kubelet.registered) == 1


def test_a_machine_that_has_to_join_again_serves_on_under_the_same_registration(tmp_path: Path) -> None:
    asyncio.run(_another_identity(tmp_path))


async def _heard_on(b: Bench) -> None:
    await b.gateway.until(HEARTBEAT, count=len(b.gateway.of(HEARTBEAT)) + 5)


async def _bad_kubelet(folder: Path) -> None:
    async with joined(folder) as (b, kubelet):
        kubelet.refusing = "no"
        async with b.running() as task:
            await kubelet.until(lambda kubelet: len(kubelet.registered) >= 2)
            await _heard_on(b)
            assert not task.done()
            kubelet.refusing = ""
            await kubelet.until_listed(GPU_0="Healthy")


def test_a_kubelet_that_says_no_ends_no_heartbeats(tmp_path: Path) -> None:
    asyncio.run(_bad_kubelet(tmp_path))


async def _faulty(folder: Path) -> None:
    async with joined(folder) as (b, kubelet), b.running() as task:
        await _heard_on(b)
        assert not task.done()
        assert kubelet.registered == []


def test_a_plugin_that_cannot_be_loaded_ends_no_heartbeats(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setitem(sys.modules, "bcd.device_plugin.registration", None)
    with caplog.at_level(logging.ERROR, logger="bcd"):
        asyncio.run(_faulty(tmp_path))
    assert "there is no device plugin" in caplog.text


async def _fails_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    faults = [ZeroDivisionError("a mistake in the plugin")]
    right = registration.remove_sockets

    def wrong_once(path: Path) -> None:
        if faults:
            raise faults.pop()
        right(path)

    monkeypatch.setattr(registration, "remove_sockets", wrong_once)
    async with joined(folder) as (b, kubelet), b.running():
        await kubelet.until_listed(GPU_0="Healthy")
        await _heard_on(b)
        assert faults == []


def test_a_fault_of_the_plugin_ends_neither_it_nor_the_heartbeats(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asyncio.run(_fails_once(tmp_path, monkeypatch))


async def _no_kubelet(folder: Path) -> None:
    async with bench(folder) as b:
        b.give_token()
        await b.bcd("join")
        async with b.running():
            await b.gateway.until(HEARTBEAT, count=3)
            names = {task.get_name() for task in asyncio.all_tasks() if "_plugin" in repr(task.get_coro())}
            assert names == set()


def test_a_machine_without_a_kubelet_runs_no_plugin(tmp_path: Path) -> None:
    asyncio.run(_no_kubelet(tmp_path))
