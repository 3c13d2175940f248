# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The daemon's log: one line for each event, and no exception's own text but ours."""

from __future__ import annotations

import json
import logging
import re
import subprocess
import sys
from datetime import datetime
from typing import Any

import pytest
from google.auth import _default as google_default
from google.auth.compute_engine import _metadata as google_metadata

from ansible_collections.better_compute.fleet.daemon.logs import JsonLines, Logfmt, log_to_stderr
from ansible_collections.better_compute.fleet.plugins.module_utils._core.documents.settings import LogSettings
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import (
    FleetError,
    StoreUnavailable,
)
from ansible_collections.better_compute.fleet.tests.support.log_kept import log_kept


def record(message: str, *, error: Exception | None = None, **extra: str) -> logging.LogRecord:
    made = logging.LogRecord(
        "ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.passes",
        logging.INFO,
        "",
        0,
        message,
        (),
        None,
    )
    if error is not None:
        try:
            raise error
        except Exception:  # noqa: BLE001 -- whatever the test gives
            made.exc_info = sys.exc_info()
    for name, value in extra.items():
        setattr(made, name, value)
    return made


def line(made: logging.LogRecord, *, traces: bool = False) -> str:
    return Logfmt(traces=traces).format(made)


def json_line(made: logging.LogRecord, *, traces: bool = False) -> dict[str, Any]:
    """The object of the JSON form, which is one line."""
    told = JsonLines(traces=traces).format(made)
    assert "\n" not in told
    read: dict[str, Any] = json.loads(told)
    return read


def test_a_line_says_when_how_bad_from_where_and_what() -> None:
    told = line(record("a pass begins", pool="pool_1"))
    assert told.endswith('Z level=info from=operations.passes event="a pass begins" pool=pool_1')
    assert told.startswith("time=20")


def test_in_the_journal_a_mark_stands_before_the_line() -> None:
    told = Logfmt(traces=False, priorities=True).format(record("a pass begins"))
    assert re.match(r"<6>time=20\S+ level=info ", told)
    told = JsonLines(traces=False, priorities=True).format(record("a pass begins"))
    assert told.startswith('<6>{"time": "20')


def test_whatever_is_in_a_message_it_stays_one_line_and_one_field() -> None:
    told = line(record('two\nlines "quoted" level=error\x1b[2J', pool="a b"))
    assert "\n" not in told
    assert "\x1b" not in told
    assert told.endswith(r'event="two\nlines \"quoted\" level=error\u001b[2J" pool="a b"')


def test_a_fault_is_told_by_kind_and_place_and_never_by_its_text() -> None:
    for traces in (False, True):
        told = line(record("the pass failed", error=ValueError("the-secret")), traces=traces)
        assert re.search(r"error=ValueError at=\S+/test_logs\.py:[0-9]+", told)
        assert "the-secret" not in told


def test_the_stack_of_a_fault_is_shown_for_debugging_only() -> None:
    made = record("the pass failed", error=ValueError("the-secret"))
    assert "stack=" not in line(made)
    assert 'stack="  File' in line(made, traces=True)
    assert "\n" not in line(made, traces=True)


def test_our_own_errors_are_told_in_their_words() -> None:
    told = line(record("no database", error=StoreUnavailable("nobody answers at db.example")))
    assert 'reason="nobody answers at db.example"' in told


def test_a_library_that_is_missing_is_named() -> None:
    told = line(record("a fault", error=ModuleNotFoundError("the-secret", name="apscheduler.schedulers")))
    assert told.endswith('reason="there is no module apscheduler.schedulers"')
    assert "the-secret" not in told


def test_a_cause_with_a_secret_in_it_is_not_told_either() -> None:
    error = FleetError("ours")
    error.__cause__ = ValueError("the-secret")
    assert "the-secret" not in line(record("failed", error=error), traces=True)


def test_a_line_of_json_has_the_fields_of_a_line_of_text() -> None:
    extra: dict[str, Any] = {
        "pool": "pool_1",
        "pass": "abcd-7",
        "seconds": "1.204",
        "next_in": "30",
        "said": 'two\nlines "q" \x1b[2J',
    }
    told = json_line(record("a pass ended", **extra))
    time = datetime.fromisoformat(told.pop("time"))
    assert str(time.tzinfo) == "UTC"
    assert told == {
        "level": "info",
        "logger": "operations.passes",
        "message": "a pass ended",
        **extra,
        "seconds": 1.204,
        "next_in": 30,
    }
    text = re.findall(r'(\w+)=(?:"(?:[^"\\]|\\.)*"|\S+)', line(record("a pass ended", **extra)))
    assert text == ["time", "level", "from", "event", *extra]


@pytest.mark.parametrize("given", ["soon", "nan", "inf"])
def test_what_is_no_number_is_a_string_to_json(given: str) -> None:
    assert json_line(record("a pass ended", next_in=given))["next_in"] == given


def test_a_fault_is_fields_of_its_own_in_json_and_its_text_is_not_among_them() -> None:
    for traces in (False, True):
        told = json_line(record("the pass failed", error=ValueError("the-secret")), traces=traces)
        assert told["error"] == "ValueError"
        assert re.fullmatch(r"\S+/test_logs\.py:[0-9]+", told["at"])
        assert ("stack" in told) == traces
        assert "the-secret" not in json.dumps(told)
    ours = json_line(record("no database", error=StoreUnavailable("nobody answers at db.example")))
    assert (ours["error"], ours["reason"]) == ("StoreUnavailable", "nobody answers at db.example")


@pytest.mark.parametrize(
    ("level", "debug", "heard"),
    [
        ("debug", False, "debug info warning error"),
        ("info", False, "info warning error"),
        ("warning", False, "warning error"),
        ("error", False, "error"),
        ("error", True, "debug info warning error"),
    ],
)
def test_the_log_begins_at_its_level_and_no_library_is_louder(
    level: str, debug: bool, heard: str, capsys: pytest.CaptureFixture[str]
) -> None:
    log_to_stderr(LogSettings(format="json", level=level), debug=debug)
    for name in ("debug", "info", "warning", "error"):
        logging.getLogger("ours").log(logging.getLevelNamesMapping()[name.upper()], name)
        logging.getLogger("urllib3.pool").log(logging.getLevelNamesMapping()[name.upper()], name)
    told = [json.loads(one) for one in capsys.readouterr().err.splitlines()]
    assert [one["level"] for one in told if one["logger"] == "ours"] == heard.split()
    loud = [name for name in heard.split() if name in ("warning", "error")]
    assert [one["level"] for one in told if one["logger"] == "urllib3.pool"] == loud


def test_a_librarys_warning_is_no_line_of_the_log() -> None:
    program = (
        f"from {Logfmt.__module__} import log_to_stderr, LogSettings; import logging, warnings; "
        "log_to_stderr(LogSettings(), debug=False); "
        "warnings.warn('advice'); logging.warning('ours')"
    )
    told = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    [line] = told.stderr.splitlines()
    assert line.endswith("event=ours")


def test_a_test_leaves_the_log_as_it_found_it() -> None:
    root, library = logging.getLogger(), logging.getLogger("kubernetes")
    before = (root.handlers[:], root.level, library.level)
    with log_kept():
        log_to_stderr(LogSettings(level="error"), debug=False)
        assert (root.level, library.level) == (logging.ERROR, logging.ERROR)
    assert (root.handlers, root.level, library.level) == before


@pytest.mark.parametrize("debug", [False, True])
def test_googles_tries_to_find_a_credential_are_not_told_and_its_errors_are(
    debug: bool, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # Google's clients, which other tests make, take their log for themselves where nobody has set it up before.
    monkeypatch.setattr(logging.getLogger("google"), "propagate", True)
    log_to_stderr(LogSettings(), debug=debug)
    for module in (google_default, google_metadata):
        module._LOGGER.warning("Compute Engine Metadata server unavailable on attempt 1 of 3")
        module._LOGGER.error("something is wrong")
    told = capsys.readouterr().err
    assert "unavailable" not in told
    assert told.count("something is wrong") == 2
