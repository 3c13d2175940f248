# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The daemon's log: one line for each event, logfmt, on stderr.

`time=… level=… from=… event="…" pool=… pass=…`: what is passed as `extra` stands at the end under its name. Every line
of a thread that runs a pass, a library's too, carries the pass's id and its pool (`unit` where it is a cluster without
one). Errors are told by kind and place: an exception's own text is written only where it is one of ours, because only
those are known to hold no secret.
"""

from __future__ import annotations

import json
import logging
import re
import sys
import traceback
from datetime import UTC, datetime

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import FleetError
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.telemetry import current_pass

from .service_manager import is_journal, priority

FIELDS = (
    *("pool", "unit", "pass", "node", "address", "provider"),
    *("outcome", "state", "seconds", "next_in", "said"),
)
"""The `extra` that a line may carry."""

_PACKAGE = "ansible_collections.better_compute.fleet."
_CORE = "plugins.module_utils._core."
_PLAIN = re.compile(r"[A-Za-z0-9._:/@+-]+", re.ASCII)

QUIET = {
    "alembic": logging.WARNING,
    "asyncio": logging.WARNING,
    "azure": logging.WARNING,
    "boto3": logging.WARNING,
    "botocore": logging.WARNING,
    "google": logging.WARNING,
    "grpc": logging.WARNING,
    "kubernetes": logging.WARNING,
    "urllib3": logging.WARNING,
    # Python's warnings: libraries' advice to whoever builds on them, and at times, where threads import at once, what
    # they silence themselves.
    "py.warnings": logging.ERROR,
    # It warns of each tick that finds the one before it still under way: that is what coalescing is for.
    "apscheduler": logging.ERROR,
    # It tells of each request that is no HTTP, or is cut short: every scanner's. Faults of ours are logged by us.
    "uvicorn": logging.CRITICAL,
}
"""From which level on they are heard: they tell all day what they do; some of them, at DEBUG, also what they send."""


def log_to_stderr(*, debug: bool) -> None:
    """Send the whole process's log to stderr.

    Arguments:
        debug: also what is of interest to a developer only, and where faults come from (a traceback).
    """
    handler = logging.StreamHandler(sys.stderr)
    handler.addFilter(carry_pass)
    handler.setFormatter(Logfmt(traces=debug, priorities=is_journal(sys.stderr)))
    logging.basicConfig(level=logging.DEBUG if debug else logging.INFO, handlers=[handler], force=True)
    logging.captureWarnings(True)
    for name, level in QUIET.items():
        logging.getLogger(name).setLevel(level)


def carry_pass(record: logging.LogRecord) -> bool:
    """Have the line say which pass it is of. A handler's filter: it runs in the thread that logs."""
    current = current_pass()
    if current is not None:
        for name, value in current.log_fields.items():
            vars(record).setdefault(name, value)
    return True


class Logfmt(logging.Formatter):
    """One line for each record, whatever is in it."""

    def __init__(self, *, traces: bool, priorities: bool = False) -> None:
        """Say what the lines have.

        Arguments:
            traces: whether a fault's stack follows, as one more field.
            priorities: whether the journal's mark of how bad it is stands before them.
        """
        super().__init__()
        self._traces = traces
        self._priorities = priorities

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
        fields = {
            "time": datetime.fromtimestamp(record.created, UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z",
            "level": record.levelname.lower(),
            "from": record.name.removeprefix(_PACKAGE).removeprefix(_CORE),
            "event": record.getMessage(),
        }
        fields |= {name: str(getattr(record, name)) for name in FIELDS if hasattr(record, name)}
        if record.exc_info and record.exc_info[1] is not None:
            fields |= self._told(record.exc_info[1])
        mark = priority(record.levelno) if self._priorities else ""
        return mark + " ".join(f"{name}={_value(text)}" for name, text in fields.items())

    def _told(self, error: BaseException) -> dict[str, str]:
        told = {"error": type(error).__name__, "at": place(error)}
        if isinstance(error, FleetError):
            told["reason"] = str(error)
        if self._traces:
            told["stack"] = "".join(traceback.format_tb(error.__traceback__))
        return told


def place(error: BaseException) -> str:
    """File and line that raised the error; empty for one that was never raised."""
    frames = traceback.extract_tb(error.__traceback__)
    return f"{frames[-1].filename.rpartition('ansible_collections/')[2]}:{frames[-1].lineno}" if frames else ""


def _value(text: str) -> str:
    return text if _PLAIN.fullmatch(text) else json.dumps(text)
