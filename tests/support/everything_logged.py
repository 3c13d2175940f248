# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""All that a process logs, kept for those who look for secrets in it."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ansible_collections.better_compute.fleet.daemon.logs import QUIET, JsonLines, Logfmt


@contextmanager
def everything_logged() -> Iterator[Callable[[], str]]:
    """This process's whole log at DEBUG, as the daemon would write it in either form.

    The emulated machines' bcd is part of it.
    The libraries' own logs are left out as the daemon leaves them out: at DEBUG some say what they send.
    """
    lines: list[str] = []

    class Keep(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if record.levelno >= QUIET.get(record.name.partition(".")[0], logging.NOTSET):
                lines.extend((Logfmt(traces=True).format(record), JsonLines(traces=True).format(record)))
                if record.exc_info:
                    lines.append("".join(traceback.format_exception(*record.exc_info)))

    root = logging.getLogger()
    handler, before = Keep(), root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    try:
        yield lambda: "\n".join(lines)
    finally:
        root.removeHandler(handler)
        root.setLevel(before)
