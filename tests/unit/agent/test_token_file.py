# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The join token's file: what is said while there is no token in it, and how often."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from ansible_collections.better_compute.fleet.tests.support.bcd_bench import TOKEN, bench
from bcd.secret import Secret
from bcd.token_file import NoToken, Waiting, read_token

Log = pytest.LogCaptureFixture


def told(log: Log) -> list[str]:
    """What was said of waiting."""
    return [record.getMessage() for record in log.records if "waiting" in record.getMessage()]


def test_why_there_is_no_token_is_told_without_what_is_in_the_file(tmp_path: Path) -> None:
    file = tmp_path / "token"
    assert read_token(file) == NoToken("there is no such file")
    for content, why in ((b" \n", "the file is empty"), (b"half a tok", "no token"), (b"\xff" * 20, "no token")):
        file.write_bytes(content)
        found = read_token(file)
        assert isinstance(found, NoToken)
        assert found.why.endswith(why)
        assert "half" not in found.why
    assert read_token(tmp_path) == NoToken("the file cannot be read: Is a directory")
    file.write_text(TOKEN)
    found = read_token(file)
    assert isinstance(found, Secret)
    assert found.reveal() == TOKEN


def test_a_file_that_bcd_may_not_read_is_said_to_be_such_a_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_arguments: object, **_options: object) -> str:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "read_text", refused)
    assert read_token(tmp_path / "token") == NoToken("the file cannot be read: Permission denied")


def test_waiting_is_told_once_and_again_after_a_minute_or_for_another_reason(tmp_path: Path, caplog: Log) -> None:
    caplog.set_level("INFO")
    waiting = Waiting(tmp_path / "token")
    for _look in range(30):
        waiting.goes_on("there is no such file", seconds=2)
    assert told(caplog) == [f"waiting for a join token in {tmp_path / 'token'}: there is no such file"]
    waiting.goes_on("there is no such file", seconds=2)
    assert len(told(caplog)) == 2
    waiting.goes_on("the file is empty", seconds=2)
    waiting.goes_on("the file is empty", seconds=2)
    assert len(told(caplog)) == 3
    waiting.is_over()
    waiting.goes_on("the file is empty", seconds=2)
    assert len(told(caplog)) == 4


async def _waits(folder: Path) -> None:
    async with bench(folder) as b, b.running("join"):
        await b.clock.until_waited(40)
        b.token_file.write_text("")
        await b.clock.until_waited(10)


def test_bcd_that_waits_says_where_and_why_and_does_not_fill_the_log(tmp_path: Path, caplog: Log) -> None:
    caplog.set_level("INFO")
    asyncio.run(_waits(tmp_path))
    said = f"waiting for a join token in {tmp_path / 'token'}: "
    missing, empty = f"{said}there is no such file", f"{said}the file is empty"
    assert told(caplog) == [missing, missing, empty]
