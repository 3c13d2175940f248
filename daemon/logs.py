# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The daemon's log: one line for each event, logfmt or JSON, on stderr.

`time=… level=… from=… event="…" pool=… pass=…`: what is passed as `extra` stands at the end under its name. Every line
of a thread that runs a pass, a library's too, carries the pass's id and its pool (`unit` where it is a cluster without
one). Errors are told by kind and place: an exception's own text is written only where it is one of ours, because only
those are known to hold no secret.

Where the log is JSON, nothing else is on stderr, because whoever collects it takes each line for an object.
"""

from __future__ import annotations

import json
import logging
import math
import re
import sys
import traceback
from datetime import UTC, datetime

from ansible_collections.better_compute.fleet.plugins.module_utils._core.documents.settings import LogSettings
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import FleetError
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.telemetry import current_pass

from .service.service_manager import is_journal, priority

FIELDS = (
    *("pool", "unit", "pass", "node", "address", "provider"),
    *("outcome", "state", "seconds", "next_in", "said"),
)
"""The `extra` that a line may carry."""

NUMBERS = frozenset({"seconds", "next_in"})
"""Of these, which are numbers to JSON."""

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
    # It warns of each of its tries to find a credential on a machine of Google's: what came of them is in its error.
    "google.auth": logging.ERROR,
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


_OWN = logging.getLogger(__package__)


def log_to_stderr(log: LogSettings, *, debug: bool) -> None:
    """Send the whole process's log to stderr, what Python's warnings say too.

    Arguments:
        log: at `debug` there is also what is of interest to a developer only, and where faults come from (a traceback).
        debug: as if the level were `debug`.
    """
    level = logging.DEBUG if debug else logging.getLevelNamesMapping()[log.level.upper()]
    handler = logging.StreamHandler(sys.stderr)
    handler.addFilter(carry_pass)
    priorities = is_journal(sys.stderr)
    handler.setFormatter(
        (JsonLines if log.format == "json" else Logfmt)(traces=level == logging.DEBUG, priorities=priorities)
    )
    logging.basicConfig(level=level, handlers=[handler], force=True)
    logging.captureWarnings(True)
    for name, least in QUIET.items():
        logging.getLogger(name).setLevel(max(least, level))


def say(line: str) -> None:
    """Say to a person, on stdout, what a command does; where the log is JSON, in a line of it."""
    if _logs_json():
        _OWN.info(line)
    else:
        sys.stdout.write(f"{line}\n")
        sys.stdout.flush()


def tell(*lines: str) -> None:
    """Tell a person, on stderr, why a command ends; where the log is JSON, in one line of it."""
    if _logs_json():
        _OWN.error("\n".join(lines))
        return
    mark = priority(logging.ERROR) if is_journal(sys.stderr) else ""
    text = "bc-fleetd: " + "\n".join(lines)
    sys.stderr.write("".join(f"{mark}{line}\n" for line in text.splitlines()))


def _logs_json() -> bool:
    return any(isinstance(handler.formatter, JsonLines) for handler in logging.getLogger().handlers)


def carry_pass(record: logging.LogRecord) -> bool:
    """Have the line say which pass it is of. A handler's filter: it runs in the thread that logs."""
    current = current_pass()
    if current is not None:
        for name, value in current.log_fields.items():
            vars(record).setdefault(name, value)
    return True


class _Fields(logging.Formatter):
    """What a line says, by name."""

    def __init__(self, *, traces: bool, priorities: bool = False) -> None:
        """Say what the lines have.

        Arguments:
            traces: whether a fault's stack follows, as one more field.
            priorities: whether the journal's mark of how bad it is stands before them.
        """
        super().__init__()
        self._traces = traces
        self._priorities = priorities

    def fields(self, record: logging.LogRecord) -> dict[str, str]:
        """The same whatever the format: what must not be told is left out here."""
        fields = {
            "time": datetime.fromtimestamp(record.created, UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z",
            "level": record.levelname.lower(),
            "from": record.name.removeprefix(_PACKAGE).removeprefix(_CORE),
            "event": record.getMessage(),
        }
        fields |= {name: str(getattr(record, name)) for name in FIELDS if hasattr(record, name)}
        if record.exc_info and record.exc_info[1] is not None:
            fields |= self._told(record.exc_info[1])
        return fields

    def mark(self, record: logging.LogRecord) -> str:
        """What stands before the line: nothing, but for the journal, which takes it off."""
        return priority(record.levelno) if self._priorities else ""

    def _told(self, error: BaseException) -> dict[str, str]:
        told = {"error": type(error).__name__, "at": place(error)}
        if isinstance(error, FleetError):
            told["reason"] = str(error)
        elif isinstance(error, ModuleNotFoundError) and error.name:
            told["reason"] = f"there is no module {error.name}"
        if self._traces:
            told["stack"] = "".join(traceback.format_tb(error.__traceback__))
        return told


class Logfmt(_Fields):
    """One line for each record, whatever is in it."""

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
        fields = self.fields(record)
        return self.mark(record) + " ".join(f"{name}={_value(text)}" for name, text in fields.items())


class JsonLines(_Fields):
    """One object on a line for each record; `logger` and `message`, as log stores call them, for `from` and `event`."""

    def format(self, record: logging.LogRecord) -> str:
        """The line, in ASCII: everything else is escaped."""
        fields = self.fields(record)
        named: dict[str, str | float] = {"time": fields.pop("time"), "level": fields.pop("level")}
        named |= {"logger": fields.pop("from"), "message": fields.pop("event")}
        named |= {name: _number(text) if name in NUMBERS else text for name, text in fields.items()}
        return self.mark(record) + json.dumps(named)


def place(error: BaseException) -> str:
    """File and line that raised the error; empty for one that was never raised."""
    frames = traceback.extract_tb(error.__traceback__)
    return f"{frames[-1].filename.rpartition('ansible_collections/')[2]}:{frames[-1].lineno}" if frames else ""


def _value(text: str) -> str:
    return text if _PLAIN.fullmatch(text) else json.dumps(text)


def _number(text: str) -> float | str:
    try:
        number = float(text)
    except ValueError:
        return text
    return number if math.isfinite(number) else text
