# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""No token and no identity in any line that bcd or what it uses logs, at the most talkative level."""

from __future__ import annotations

import asyncio
import json
import logging
from pathlib import Path

import pytest

from ansible_collections.better_compute.fleet.tests.support.bcd_bench import TOKEN, bench
from ansible_collections.better_compute.fleet.tests.support.gateway_double import HEARTBEAT, JOIN, make_certificate

SECOND_TOKEN = "bcj_the-second-token-of-the-test"


async def _a_troubled_life(folder: Path) -> set[str]:
    """Everything that can go wrong with a secret in hand; returns the secrets."""
    async with bench(folder) as b:
        b.give_token()
        b.gateway.lose_reply(JOIN)
        own, b.pins = b.pins, make_certificate().pin
        async with b.running("join"):
            await b.clock.until_waited(1)
        b.pins = own
        b.gateway.refuse(JOIN, status=403, code="FORBIDDEN", message=f"who sends {TOKEN}?")
        async with b.running("join"):
            await b.gateway.until(JOIN, count=2)
        b.gateway.accept(JOIN)
        await b.bcd("join")
        identities = {json.loads((b.state / "identity.json").read_text())["identity"]}
        async with b.running():
            await b.gateway.until(HEARTBEAT, count=2)
            b.gateway.lose_reply(HEARTBEAT)
            await b.gateway.until(HEARTBEAT, count=4)
            b.gateway.nodes.clear()
            b.give_token(SECOND_TOKEN)
            request = await b.gateway.until(JOIN, count=len(b.gateway.of(JOIN)) + 1)
            identities.add(request.body["identity"])
            await b.gateway.until(HEARTBEAT, count=len(b.gateway.of(HEARTBEAT)) + 2)
        return identities


def test_no_secret_is_logged_at_debug(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    identities = asyncio.run(_a_troubled_life(tmp_path), debug=True)
    printed = capsys.readouterr()
    said = "\n".join([caplog.text, printed.out, printed.err, *(repr(vars(record)) for record in caplog.records)])
    assert "httpcore" in said
    assert "send_request_headers" in said
    assert len(identities) == 2
    for secret in (TOKEN, SECOND_TOKEN, *identities):
        assert secret not in said


def test_secrets_are_in_bcds_own_files_and_in_no_other(tmp_path: Path) -> None:
    identities = asyncio.run(_a_troubled_life(tmp_path))
    holders = {
        path.name
        for path in (tmp_path / "state").rglob("*")
        if any(secret in path.read_text() for secret in (TOKEN, SECOND_TOKEN, *identities))
    }
    assert holders == {"identity.json"}
