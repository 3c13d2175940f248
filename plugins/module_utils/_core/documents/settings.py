# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The deployment's settings: one TOML file and the environment, read alike by modules and daemon.

The file is the one that is asked for, else `BC_FLEET_SETTINGS`, else /etc/better-compute/fleet.toml when it exists.
`BC_FLEET_<SECTION>_<KEY>` (and `BC_FLEET_OPERATOR`) in the environment win over it; lists are separated by commas, an
empty variable counts as none.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..model.agent import AgentSettings
from ..model.errors import InvalidInput, Problem
from .setting_keys import OPERATOR, SECTIONS, Key, key_problems
from .spelling import KeyPath, path_text
from .wording import found, unknown_key

SYSTEM_FILE = Path("/etc/better-compute/fleet.toml")
"""Read when neither an argument nor BC_FLEET_SETTINGS names a file."""

SYSTEM_STATE_DIR = Path("/var/lib/better-compute")
"""The daemon's state directory: where it exists, module runs and the daemon share it."""

_PREFIX = "BC_FLEET_"
_KEY_PARTS = 2
"""Of a path, the section and the key: what follows is inside the value, such as a list's index."""

_WHOLE_NUMBER = r"-?[0-9]{1,9}"


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreSettings:
    """Where the records are. The URL may hold a password."""

    database_url: str = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class GatewaySettings:
    """Where bcd's gateway listens and keeps its things.

    Attributes:
        listen_port: 0 takes a free one.
        certificate_file, key_file: PEM; both or neither. Without them the gateway makes its own in `state_dir`.
    """

    listen_host: str
    listen_port: int
    state_dir: Path
    certificate_file: Path | None
    key_file: Path | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiSettings:
    """Where the HTTP API listens. It shows the gateway's certificate.

    Attributes:
        listen_port: 0 takes a free one.
    """

    listen_host: str
    listen_port: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ReconcileSettings:
    """How often passes run. The defaults are the spec's; a demonstration may shorten them.

    Attributes:
        converging_seconds, settled_seconds, deleting_seconds: until the next pass of a pool in such a state.
        workers: passes that run at once in one process, at most: they mostly wait for the network.
    """

    converging_seconds: int
    settled_seconds: int
    deleting_seconds: int
    workers: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """All settings.

    Attributes:
        agent: None where none are given: pools with a substrate then stay in error.
        operator: who module runs act as; None for the login name.
        api: None where no [api] is there: then no API is served.
    """

    store: StoreSettings
    agent: AgentSettings | None
    gateway: GatewaySettings
    reconcile: ReconcileSettings
    operator: str | None
    api: ApiSettings | None = None


def load_settings(
    path: Path | str | None = None, *, environ: Mapping[str, str] | None = None, database_url: str | None = None
) -> Settings:
    """Read the settings.

    Arguments:
        path: the file; None as the module's docstring says.
        environ: the environment; None for the process's own.
        database_url: wins over file and environment: a module's own option.

    Raises:
        InvalidInput: every problem at once: the key (`reconcile.workers`) and, where it came from there, the variable.
    """
    environ = os.environ if environ is None else environ
    values = _from_file(path, environ)
    problems, came_from = _from_environment(values, environ)
    if database_url:
        _put(values, "store", "database_url", database_url)
        came_from.pop("store.database_url", None)
    for at, message in _wrong(values):
        variable = came_from.get(path_text(at[:_KEY_PARTS]))
        told = f"{message} (from {variable})" if variable else message
        problems.append(Problem(path=path_text(at), message=told))
    if problems:
        raise InvalidInput(problems)
    return _settings(values, environ)


def _wrong(values: Mapping[str, Any]) -> Iterator[tuple[KeyPath, str]]:
    """Everything that is wrong, in the order of the keys."""
    if "operator" in values:
        yield from key_problems(OPERATOR, values["operator"], at=("operator",))
    for section, keys in SECTIONS.items():
        if section not in values:
            continue
        given = values[section]
        if not isinstance(given, dict):
            yield (section,), f"expected a mapping, found {'a string' if isinstance(given, str) else found(given)}"
            continue
        for name, key in keys.items():
            if name in given:
                yield from key_problems(key, given[name], at=(section, name))
            elif key.required:
                yield (section, name), "is required, and is not there"
        yield from (((section, name), unknown_key(name, keys)) for name in given if name not in keys)
        if section == "gateway" and bool(given.get("certificate_file")) != bool(given.get("key_file")):
            yield (section,), "certificate_file and key_file go together: give both or none"
    known = ("operator", *SECTIONS)
    yield from (((name,), unknown_key(name, known)) for name in values if name not in known)


def _from_file(path: Path | str | None, environ: Mapping[str, str]) -> dict[str, Any]:
    chosen = path or environ.get(f"{_PREFIX}SETTINGS") or (SYSTEM_FILE if SYSTEM_FILE.is_file() else None)
    if chosen is None:
        return {}
    if "\0" in str(chosen):
        raise _unusable("no file's name has a NUL in it")
    import tomllib  # most have no file

    try:
        with Path(chosen).open("rb") as file:
            return tomllib.load(file)
    except OSError as error:
        raise _unusable(f"the settings file {chosen} cannot be read: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise _unusable(f"the settings file {chosen} is not TOML: {error}") from None


def _unusable(message: str) -> InvalidInput:
    return InvalidInput([Problem(path="", message=message)])


def _from_environment(values: dict[str, Any], environ: Mapping[str, str]) -> tuple[list[Problem], dict[str, str]]:
    """Lay the environment over `values`. Returns what is wrong with its names, and key -> variable for the rest."""
    problems: list[Problem] = []
    came_from: dict[str, str] = {}
    if environ.get(f"{_PREFIX}OPERATOR"):
        values["operator"] = environ[f"{_PREFIX}OPERATOR"]
        came_from["operator"] = f"{_PREFIX}OPERATOR"
    for section, keys in SECTIONS.items():
        prefix = f"{_PREFIX}{section.upper()}_"
        for variable in sorted(name for name in environ if name.startswith(prefix) and environ[name]):
            key = variable.removeprefix(prefix).lower()
            known = keys.get(key)
            if known is None:
                names = ", ".join(f"{prefix}{name.upper()}" for name in keys)
                problems.append(Problem(path=variable, message=f"unknown variable; known here: {names}"))
                continue
            _put(values, section, key, _typed(environ[variable], known))
            came_from[f"{section}.{key}"] = variable
    return problems, came_from


def _put(values: dict[str, Any], section: str, key: str, value: object) -> None:
    """Set one key; a section that is no table is left to be refused."""
    table = values.setdefault(section, {})
    if isinstance(table, dict):
        table[key] = value


def _typed(text: str, key: Key) -> object:
    """A variable's text as the type its key wants; what does not fit is left to be refused."""
    if key.kind is list:
        return [part.strip() for part in text.split(",") if part.strip()]
    if key.kind is int and re.fullmatch(_WHOLE_NUMBER, text, re.ASCII):
        return int(text)
    return text


def _settings(values: Mapping[str, Any], environ: Mapping[str, str]) -> Settings:
    state_dir = _state_dir(environ)
    section = {
        name: {key: values.get(name, {}).get(key, known.default) for key, known in keys.items()}
        for name, keys in SECTIONS.items()
    }
    agent, gateway = section["agent"], section["gateway"]
    return Settings(
        store=StoreSettings(database_url=section["store"]["database_url"] or f"sqlite:///{state_dir / 'fleet.db'}"),
        agent=AgentSettings(**{**agent, "pins": tuple(agent["pins"])}) if "agent" in values else None,
        gateway=GatewaySettings(
            listen_host=gateway["listen_host"],
            listen_port=gateway["listen_port"],
            state_dir=Path(gateway["state_dir"] or state_dir),
            certificate_file=Path(gateway["certificate_file"]) if gateway["certificate_file"] else None,
            key_file=Path(gateway["key_file"]) if gateway["key_file"] else None,
        ),
        reconcile=ReconcileSettings(**section["reconcile"]),
        operator=values.get("operator"),
        api=ApiSettings(**section["api"]) if "api" in values else None,
    )


def _state_dir(environ: Mapping[str, str]) -> Path:
    """The shared state directory where there is one, else the user's own (XDG base directory specification)."""
    if SYSTEM_STATE_DIR.is_dir():
        return SYSTEM_STATE_DIR
    home = environ.get("XDG_STATE_HOME", "")
    # The specification says that a relative path is to be ignored.
    base = Path(home) if home.startswith("/") else Path(environ.get("HOME") or Path.home()) / ".local" / "state"
    return base / "better-compute"
