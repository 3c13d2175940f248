# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the watchdog job makes of servers and a dispatcher: fed, ended with an error, or left to the service manager."""

from __future__ import annotations

import logging
import socket
from collections.abc import Iterator
from pathlib import Path
from queue import SimpleQueue
from types import SimpleNamespace
from typing import Any, cast

import pytest

from ansible_collections.better_compute.fleet.daemon.service import running


@pytest.fixture
def manager(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[socket.socket]:
    """The service manager's socket."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listening:
        listening.bind(str(tmp_path / "notify"))
        listening.setblocking(False)
        monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "notify"))
        yield listening


def looked_after(
    manager: socket.socket, *, answers: bool = True, is_stuck: bool = False, is_late: bool = False
) -> tuple[bool, list[int]]:
    """Whether the watchdog was fed, and what the main thread was told."""
    told: running.Signals = SimpleQueue()
    servers = [SimpleNamespace(answers=True), SimpleNamespace(answers=answers)]
    dispatcher = SimpleNamespace(is_stuck=is_stuck, is_late=is_late)
    running._look_after(cast("Any", servers), cast("Any", dispatcher), told)
    try:
        fed = manager.recv(100) == b"WATCHDOG=1"
    except BlockingIOError:
        fed = False
    return fed, [told.get() for _ in range(told.qsize())]


def test_it_is_fed_while_all_is_well(manager: socket.socket) -> None:
    assert looked_after(manager) == (True, [])


def test_a_server_that_ended_by_itself_ends_the_process(manager: socket.socket) -> None:
    assert looked_after(manager, answers=False) == (False, [running._GATEWAY_ENDED])


def test_too_many_passes_that_hang_end_the_process(manager: socket.socket) -> None:
    assert looked_after(manager, is_stuck=True) == (False, [running._PASSES_HANG])


def test_a_dispatcher_that_hangs_is_left_to_the_service_manager(
    manager: socket.socket, caplog: pytest.LogCaptureFixture
) -> None:
    assert looked_after(manager, is_late=True) == (False, [])
    assert [record.levelno for record in caplog.records] == [logging.ERROR]
