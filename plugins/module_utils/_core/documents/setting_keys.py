# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every key that the settings file has: strict, closed, snake_case as TOML's authors write.

Without pydantic: every run of every module reads the settings, and most need it for nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from . import patterns
from .addresses import absolute_path, web_address
from .spelling import KeyPath
from .wording import found

_SQLITE: Final = "sqlite:///"
_DATABASES: Final = (_SQLITE, "postgresql+psycopg://")
_MOST_SECONDS: Final = 86_400
"""A pool that is looked at less than daily is not looked at."""
_MOST_DAYS: Final = 36_500
"""A century: for good, for whoever wants that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """One key.

    Attributes:
        kind: what a value is: a string, a whole number, or a list of strings.
        check: raises ValueError with what is wrong with a value of that kind; of a list, with one of its items.
        default: of a key that is not there.
    """

    kind: type[str] | type[int] | type[list[str]]
    check: Callable[[Any], object]
    default: str | int | None = None
    required: bool = False


def key_problems(key: Key, value: object, *, at: KeyPath) -> list[tuple[KeyPath, str]]:
    """What is wrong with a value, each with its path.

    Arguments:
        at: the key's path.
    """
    if key.kind is not list:
        return [(at, why) for why in _wrong(key.kind, key.check, value)]
    if not isinstance(value, list):
        return [(at, f"expected a list, found {'a string' if isinstance(value, str) else found(value)}")]
    if not value:
        return [(at, "expected at least 1 items, found 0")]
    return [((*at, index), why) for index, item in enumerate(value) for why in _wrong(str, key.check, item)]


def _wrong(kind: type, check: Callable[[Any], object], value: object) -> list[str]:
    # A bool is an int to Python, and no number to TOML.
    if not isinstance(value, kind) or isinstance(value, bool):
        if kind is str:
            quoted = ": put it in quotes" if isinstance(value, (int, float)) else ""
            return [f"expected a string, found {found(value)}{quoted}"]
        return [f"expected a whole number, found {found(value)}"]
    if isinstance(value, str) and any("\ud800" <= character <= "\udfff" for character in value):
        return ["expected text, found half a character (a surrogate alone)"]
    try:
        check(value)
    except ValueError as error:
        return [str(error)]
    return []


def _like(pattern: str) -> Callable[[str], None]:
    def check(value: str) -> None:
        # `$` would let a newline follow.
        if not re.fullmatch(pattern, value, re.ASCII):
            raise ValueError(f"expected {patterns.MEANING[pattern]}, found {found(value)}")

    return check


def _between(least: int, most: int) -> Callable[[int], None]:
    def check(value: int) -> None:
        if value < least:
            raise ValueError(f"expected at least {least}, found {found(value)}")
        if value > most:
            raise ValueError(f"expected at most {most}, found {found(value)}")

    return check


def _database(value: str) -> None:
    """Take the URL of a kind of database that the store knows. The error does not repeat it: it may hold a password."""
    if not value.startswith(_DATABASES):
        raise ValueError(f"expected a URL that begins with one of {', '.join(_DATABASES)}")
    if value.startswith(_SQLITE) and not value.startswith(f"{_SQLITE}/"):
        raise ValueError(
            "this names a SQLite file by a relative path, which is another file in every folder: write the whole path "
            "after three slashes, so four in all, as in sqlite:////var/lib/better-compute/fleet.db"
        )


def _https(value: str) -> None:
    if not value.startswith("https://"):
        raise ValueError("expected an https URL")
    web_address(value)


def _printable(value: str) -> None:
    if not (value and value.isascii() and value.isprintable() and " " not in value):
        raise ValueError("expected one or more printable ASCII characters without spaces")


def _among(*known: str, default: str) -> Key:
    def check(value: str) -> None:
        if value not in known:
            raise ValueError(f"expected one of {', '.join(known)}, found {found(value)}")

    return _text(check, default=default)


def _text(check: Callable[[str], object], *, default: str | None = None, required: bool = False) -> Key:
    return Key(kind=str, check=check, default=default, required=required)


def _number(least: int, most: int, *, default: int) -> Key:
    return Key(kind=int, check=_between(least, most), default=default)


OPERATOR: Final = _text(_like(patterns.TENANT))
"""The one key outside the sections."""

SECTIONS: Final[Mapping[str, Mapping[str, Key]]] = {
    "store": {"database_url": _text(_database)},
    # model.agent.AgentSettings
    "agent": {
        "image": _text(_printable, required=True),
        "gateway_url": _text(_https, required=True),
        "pins": Key(kind=list, check=_like(patterns.PIN), required=True),
        "control_plane_url": _text(web_address),
        "runtime_class": _text(_like(patterns.PLACE)),
        "resource_name": _text(_like(patterns.RESOURCE_NAME), default="bc.dev/gpu"),
    },
    "gateway": {
        "listen_host": _text(_printable, default="127.0.0.1"),
        "listen_port": _number(0, 65_535, default=8443),
        "state_dir": _text(absolute_path),
        "certificate_file": _text(absolute_path),
        "key_file": _text(absolute_path),
    },
    "api": {
        "listen_host": _text(_printable, default="127.0.0.1"),
        "listen_port": _number(0, 65_535, default=8444),
    },
    # The defaults are the spec's.
    "reconcile": {
        "converging_seconds": _number(1, _MOST_SECONDS, default=30),
        "settled_seconds": _number(1, _MOST_SECONDS, default=300),
        "deleting_seconds": _number(1, _MOST_SECONDS, default=120),
        "workers": _number(1, 256, default=64),
    },
    # A quarter: longer than anybody looks back for why something is so, short enough for a small database.
    "retention": {"days": _number(1, _MOST_DAYS, default=90)},
    "log": {
        "format": _among("text", "json", default="text"),
        "level": _among("debug", "info", "warning", "error", default="info"),
    },
}
"""Section -> key -> what it takes. An [agent] that is not there at all is no error, whatever it requires."""
