# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""systemd's notification protocol, spoken to a real socket, and what its journal knows of a line."""

from __future__ import annotations

import io
import logging
import os
import socket
from pathlib import Path

import pytest

from ansible_collections.better_compute.fleet.daemon.service.service_manager import (
    is_journal,
    notify,
    priority,
    watchdog_seconds,
)


def test_a_state_is_sent_to_the_socket_that_the_service_manager_names(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(str(tmp_path / "notify"))
        notify("READY=1", environ={"NOTIFY_SOCKET": str(tmp_path / "notify")})
        assert manager.recv(100) == b"READY=1"


def test_an_abstract_socket_is_understood() -> None:
    name = f"bc-fleetd-test-{os.getpid()}"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(f"\0{name}")
        notify("STOPPING=1", environ={"NOTIFY_SOCKET": f"@{name}"})
        assert manager.recv(100) == b"STOPPING=1"


def test_nobody_who_listens_is_no_fault(tmp_path: Path) -> None:
    notify("READY=1", environ={"NOTIFY_SOCKET": str(tmp_path / "nobody")})
    notify("READY=1", environ={})


def test_the_watchdog_is_fed_twice_in_its_patience() -> None:
    assert watchdog_seconds(environ={"WATCHDOG_USEC": "30000000"}) == 15


def test_a_watchdog_of_another_process_is_not_fed() -> None:
    assert watchdog_seconds(environ={"WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "1"}) is None
    assert watchdog_seconds(environ={"WATCHDOG_USEC": "30000000", "WATCHDOG_PID": str(os.getpid())}) == 15


def test_without_a_watchdog_nothing_is_fed() -> None:
    assert watchdog_seconds(environ={}) is None
    assert watchdog_seconds(environ={"WATCHDOG_USEC": "0"}) is None
    assert watchdog_seconds(environ={"WATCHDOG_USEC": "nonsense"}) is None


def test_only_the_stream_that_the_service_manager_made_is_its_journal(tmp_path: Path) -> None:
    with (tmp_path / "journal").open("w") as stream, (tmp_path / "other").open("w") as other:
        file = os.fstat(stream.fileno())
        environ = {"JOURNAL_STREAM": f"{file.st_dev}:{file.st_ino}"}
        assert is_journal(stream, environ=environ)
        assert not is_journal(other, environ=environ)
        assert not is_journal(stream, environ={})
        assert not is_journal(io.StringIO(), environ=environ)


@pytest.mark.parametrize(
    ("level", "mark"),
    [(logging.CRITICAL, "<3>"), (logging.ERROR, "<3>"), (logging.WARNING, "<4>"), (logging.INFO, "<6>"), (1, "<7>")],
)
def test_levels_have_the_journals_marks(level: int, mark: str) -> None:
    assert priority(level) == mark
