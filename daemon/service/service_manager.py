# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Telling the service manager where the daemon stands (systemd's Type=notify), and its journal how bad a line is.

Silent where nobody asked. Source: sd_notify(3), sd_watchdog_enabled(3), sd-daemon(3), systemd.exec(5).
"""

from __future__ import annotations

import logging
import os
import socket
from collections.abc import Mapping
from typing import TextIO


def notify(state: str, *, environ: Mapping[str, str] | None = None) -> None:
    """Send a state: `READY=1`, `STOPPING=1`, `WATCHDOG=1`, `STATUS=…`. That nobody listens is no fault."""
    address = (os.environ if environ is None else environ).get("NOTIFY_SOCKET", "")
    if not address.startswith(("/", "@")):
        return
    # A leading @ stands for the zero byte of Linux's abstract names.
    address = f"\0{address[1:]}" if address.startswith("@") else address
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        try:
            manager.connect(address)
            manager.sendall(state.encode())
        except OSError:
            return


def watchdog_seconds(*, environ: Mapping[str, str] | None = None) -> float | None:
    """How often the service manager wants a `WATCHDOG=1`: half its patience. None when it does not watch."""
    environ = os.environ if environ is None else environ
    microseconds = environ.get("WATCHDOG_USEC", "")
    if not microseconds.isdecimal() or environ.get("WATCHDOG_PID", str(os.getpid())) != str(os.getpid()):
        return None
    return int(microseconds) / 2_000_000 or None


def is_journal(stream: TextIO, *, environ: Mapping[str, str] | None = None) -> bool:
    """Whether the service manager reads the stream into its journal: JOURNAL_STREAM names the one that it made."""
    named = (os.environ if environ is None else environ).get("JOURNAL_STREAM")
    if not named:
        return False
    try:
        file = os.fstat(stream.fileno())
    except OSError:
        return False
    return named == f"{file.st_dev}:{file.st_ino}"


def priority(level: int) -> str:
    """What stands before a line of the journal, so that `journalctl -p err` finds it."""
    if level >= logging.ERROR:
        return "<3>"
    if level >= logging.WARNING:
        return "<4>"
    return "<6>" if level >= logging.INFO else "<7>"
