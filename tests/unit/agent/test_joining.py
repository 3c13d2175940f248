# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""`bcd join`: over real TLS, with lost replies, replaced tokens and wrong gateways."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

from ansible_collections.better_compute.fleet.tests.support.bcd_bench import GPUS, NODE_NAME, TOKEN, bench
from ansible_collections.better_compute.fleet.tests.support.gateway_double import (
    HEARTBEAT,
    JOIN,
    make_certificate,
)


async def _joins_and_tells_what_it_has(folder: Path) -> None:
    async with bench(folder) as b:
        b.give_token()
        assert await b.bcd("join") == 0
        (request,) = b.gateway.of(JOIN)
        assert request.bearer == TOKEN
        assert request.body["hostname"] == "ip-10-0-0-1"
        assert request.body["inventory"] == {
            "os": {"kubernetesNodeName": NODE_NAME},
            "gpus": [{"id": gpu.id, "model": gpu.model} for gpu in GPUS],
        }


def test_a_machine_joins_and_tells_its_node_name_and_gpus(tmp_path: Path) -> None:
    asyncio.run(_joins_and_tells_what_it_has(tmp_path))


async def _no_driver(folder: Path) -> None:
    async with bench(folder) as b:
        b.give_token()
        b.gpus = None
        assert await b.bcd("join") == 0
        assert b.gateway.of(JOIN)[0].body["inventory"]["gpus"] == []


def test_a_machine_without_a_driver_joins_without_gpus(tmp_path: Path) -> None:
    asyncio.run(_no_driver(tmp_path))


async def _lost_reply(folder: Path) -> None:
    async with bench(folder) as b:
        b.give_token(uses=1)
        b.gateway.lose_reply(JOIN, times=2)
        assert await b.bcd("join") == 0
        requests = b.gateway.of(JOIN)
        assert len(requests) == 3
        assert len({(request.body["nonce"], request.body["identity"]) for request in requests}) == 1
        assert len(b.gateway.nodes) == 1


def test_a_lost_reply_is_asked_for_again_with_the_same_nonce_and_identity_and_costs_no_second_use(
    tmp_path: Path,
) -> None:
    asyncio.run(_lost_reply(tmp_path))


async def _killed_before_the_reply(folder: Path) -> None:
    async with bench(folder) as b:
        b.give_token(uses=1)
        b.gateway.lose_reply(JOIN)
        async with b.running("join"):
            await b.gateway.until(JOIN)
        assert await b.bcd("join") == 0
        assert len({request.body["nonce"] for request in b.gateway.of(JOIN)}) == 1
        assert len(b.gateway.nodes) == 1


def test_a_bcd_killed_before_the_reply_came_repeats_the_same_join(tmp_path: Path) -> None:
    asyncio.run(_killed_before_the_reply(tmp_path))


async def _token_gone_after_a_lost_reply(folder: Path) -> None:
    async with bench(folder) as b:
        b.give_token(uses=1)
        b.gateway.lose_reply(JOIN)
        async with b.running("join") as task:
            await b.gateway.until(JOIN)
            b.token_file.unlink()
            assert await task == 0


def test_a_join_whose_reply_was_lost_is_repeated_though_the_token_has_been_taken_away(tmp_path: Path) -> None:
    asyncio.run(_token_gone_after_a_lost_reply(tmp_path))


async def _replaced_token(folder: Path) -> None:
    async with bench(folder) as b:
        b.token_file.write_text("bcj_used-up-by-somebody-else")
        async with b.running("join") as task:
            await b.gateway.until(JOIN, count=2)
            assert not task.done()
            b.give_token("bcj_the-second-token-of-the-test")
            assert await task == 0
        assert b.gateway.of(JOIN)[-1].bearer == "bcj_the-second-token-of-the-test"


def test_a_token_replaced_while_bcd_waits_is_picked_up(tmp_path: Path) -> None:
    asyncio.run(_replaced_token(tmp_path))


async def _token_comes_late(folder: Path) -> None:
    async with bench(folder) as b:
        b.token_file.write_text("half a to")
        async with b.running("join") as task:
            await b.clock.until_waited(3)
            assert b.gateway.received == []
            b.give_token()
            assert await task == 0
        assert set(b.clock.waits) == {2.0}


def test_without_a_token_bcd_waits_and_says_nothing_to_the_gateway(tmp_path: Path) -> None:
    asyncio.run(_token_comes_late(tmp_path))


async def _wrong_pin(folder: Path) -> None:
    async with bench(folder) as b:
        b.give_token()
        b.pins = make_certificate().pin
        async with b.running("join") as task:
            await b.clock.until_waited(2)
            assert not task.done()
        assert b.gateway.connections == 2
        assert b.gateway.http_bytes == 0
        assert b.gateway.received == []


def test_a_gateway_without_a_pinned_key_is_sent_not_one_byte_of_http(tmp_path: Path) -> None:
    asyncio.run(_wrong_pin(tmp_path))


async def _one_of_two_pins(folder: Path) -> None:
    async with bench(folder) as b:
        b.give_token()
        b.pins = f"{make_certificate().pin},{b.gateway.certificate.pin}"
        assert await b.bcd("join") == 0


def test_one_pin_of_several_is_enough_while_a_key_is_replaced(tmp_path: Path) -> None:
    asyncio.run(_one_of_two_pins(tmp_path))


async def _waits_grow(folder: Path) -> None:
    async with bench(folder) as b:
        b.give_token(uses=0)
        async with b.running("join"):
            await b.gateway.until(JOIN, count=8)
        ceilings = [1, 2, 4, 8, 16, 20, 20]
        assert all(top / 2 <= wait <= top for top, wait in zip(ceilings, b.clock.waits, strict=False))
        assert len(set(b.clock.waits[:7])) == 7


def test_refused_tries_come_further_and_further_apart_with_jitter(tmp_path: Path) -> None:
    asyncio.run(_waits_grow(tmp_path))


async def _again_with_identity(folder: Path) -> None:
    async with bench(folder) as b:
        b.give_token(uses=1)
        assert await b.bcd("join") == 0
        b.token_file.unlink()
        assert await b.bcd("join") == 0
        assert len(b.gateway.of(JOIN)) == 1
        assert len(b.gateway.of(HEARTBEAT)) == 1


def test_a_restarted_pod_whose_identity_the_gateway_accepts_needs_no_token(tmp_path: Path) -> None:
    asyncio.run(_again_with_identity(tmp_path))


async def _gateway_away(folder: Path) -> None:
    async with bench(folder) as b:
        b.give_token()
        assert await b.bcd("join") == 0
        await b.gateway.stop()
        assert await b.bcd("join") == 0


def test_a_restarted_pod_with_an_identity_does_not_wait_for_a_gateway_that_is_away(tmp_path: Path) -> None:
    asyncio.run(_gateway_away(tmp_path))


async def _refused_otherwise(folder: Path) -> None:
    async with bench(folder) as b:
        b.give_token()
        assert await b.bcd("join") == 0
        b.gateway.refuse(HEARTBEAT, status=403, code="FORBIDDEN", message="the pool is being torn down")
        b.give_token("bcj_the-second-token-of-the-test")
        assert await b.bcd("join") == 0
        assert len(b.gateway.of(JOIN)) == 1


def test_only_an_identity_that_is_unknown_is_given_up_for_a_new_one(tmp_path: Path) -> None:
    asyncio.run(_refused_otherwise(tmp_path))


async def _forgotten(folder: Path) -> None:
    async with bench(folder) as b:
        b.give_token()
        assert await b.bcd("join") == 0
        first = json.loads((b.state / "identity.json").read_text())
        b.gateway.nodes.clear()
        b.give_token("bcj_the-second-token-of-the-test")
        assert await b.bcd("join") == 0
        second = json.loads((b.state / "identity.json").read_text())
        assert second["identity"] != first["identity"]
        assert second["nodeId"] != first["nodeId"]


def test_a_machine_that_the_gateway_no_longer_knows_joins_again_with_a_fresh_identity(tmp_path: Path) -> None:
    asyncio.run(_forgotten(tmp_path))


async def _remembered_again(folder: Path) -> None:
    async with bench(folder) as b:
        b.give_token()
        assert await b.bcd("join") == 0
        b.token_file.unlink()
        known = dict(b.gateway.nodes)
        b.gateway.nodes.clear()
        async with b.running("join") as task:
            await b.gateway.until(HEARTBEAT, count=2)
            assert not task.done()
            b.gateway.nodes.update(known)
            assert await task == 0
        assert len(b.gateway.of(JOIN)) == 1


def test_an_identity_that_the_gateway_comes_to_know_again_is_still_good(tmp_path: Path) -> None:
    asyncio.run(_remembered_again(tmp_path))
