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
from ..model.errors import InvalidSettings, Problem
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
    """Where the records are.

    Attributes:
        database_url: it may hold a password.
        by_default: whether nobody named it: it is a SQLite file in the state folder, which is then made, too.
    """

    database_url: str = field(repr=False)
    by_default: bool = False


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
class RetentionSettings:
    """How long the fleet remembers.

    Attributes:
        days: since something is over: an event, an ended reservation, a retired node, a deleted cluster or node pool,
            an archived pool.
    """

    days: int = 90


@dataclass(frozen=True, slots=True, kw_only=True)
class LogSettings:
    """What the daemon's log looks like.

    Attributes:
        format: `text` (logfmt), or `json`: one object a line.
        level: from which on a line is written, as Python's logging calls it, in small letters.
    """

    format: str = "text"
    level: str = "info"


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
    retention: RetentionSettings = RetentionSettings()
    log: LogSettings = LogSettings()


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadSettings:
    """The settings as far as they can be read.

    Attributes:
        settings: with defaults in the place of what is wrong.
        problems: all that is wrong: the key (`reconcile.workers`) and where it came from: the file or the variable.
        wrong: the sections (and `operator`) that are not as somebody wanted them: `settings` does not tell of them.
    """

    settings: Settings
    problems: tuple[Problem, ...]
    wrong: frozenset[str]


def load_settings(
    path: Path | str | None = None, *, environ: Mapping[str, str] | None = None, database_url: str | None = None
) -> Settings:
    """Read the settings.

    Arguments:
        path: the file; None as the module's docstring says.
        environ: the environment; None for the process's own.
        database_url: wins over file and environment: a module's own option.

    Raises:
        InvalidSettings: every problem at once, as :class:`ReadSettings` has them.
    """
    read = read_settings(path, environ=environ, database_url=database_url)
    if read.problems:
        raise InvalidSettings(read.problems)
    return read.settings


def read_settings(
    path: Path | str | None = None, *, environ: Mapping[str, str] | None = None, database_url: str | None = None
) -> ReadSettings:
    """As :func:`load_settings`, for whoever goes on with what is right."""
    environ = os.environ if environ is None else environ
    known = {"operator", *SECTIONS}
    problems: list[Problem] = []
    wrong: set[str] = set()
    values: dict[str, Any] = {}
    try:
        values = _from_file(path, environ)
    except InvalidSettings as error:
        # Whatever stands in it is not known: nothing is at its default.
        problems += error.problems
        wrong |= known
    unreadable = bool(problems)
    file = settings_file(path, environ=environ)
    came_from = _places(values, str(file))
    unknown, variables = _from_environment(values, environ)
    came_from |= variables
    problems += (problem for _section, problem in unknown)
    wrong |= {section for section, _problem in unknown}
    if database_url:
        _put(values, "store", "database_url", database_url)
        came_from["store.database_url"] = "from the option database_url"
    for at, message in _wrong(values, whole=not unreadable):
        place = came_from.get(path_text(at[:_KEY_PARTS])) or _looked_for(at, file)
        problems.append(Problem(path=path_text(at), message=f"{message} ({place})"))
        # A name that is unknown may be any section's that is not there.
        wrong |= {str(at[0])} if at[0] in known else known - set(values)
    sound = {name: value for name, value in values.items() if name in known - wrong}
    return ReadSettings(settings=_settings(sound, environ), problems=tuple(problems), wrong=frozenset(wrong))


def unknown_variables(environ: Mapping[str, str] | None = None) -> tuple[str, ...]:
    """Variables that begin as the settings' do, and belong to no section.

    They are no error, because the name is not ours alone: Kubernetes gives every pod such variables for a Service that
    is called bc-fleet. Most of the time they are misspelled.
    """
    environ = os.environ if environ is None else environ
    known = tuple(f"{_PREFIX}{section.upper()}_" for section in SECTIONS)
    named = (f"{_PREFIX}SETTINGS", f"{_PREFIX}OPERATOR")
    return tuple(
        sorted(
            name
            for name in environ
            if name.startswith(_PREFIX) and name not in named and not name.startswith(known) and environ[name]
        )
    )


def _wrong(values: Mapping[str, Any], *, whole: bool) -> Iterator[tuple[KeyPath, str]]:
    """Everything that is wrong, in the order of the keys.

    Arguments:
        whole: whether what is not in `values` is nowhere.
    """
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
            elif key.required and whole:
                yield (section, name), "is required, and is not there"
        yield from (((section, name), unknown_key(name, keys)) for name in given if name not in keys)
        if whole and section == "gateway" and bool(given.get("certificate_file")) != bool(given.get("key_file")):
            yield (section,), "certificate_file and key_file go together: give both or none"
    known = ("operator", *SECTIONS)
    yield from (((name,), unknown_key(name, known)) for name in values if name not in known)


def _places(values: Mapping[str, Any], file: str) -> dict[str, str]:
    """Section or key -> where it came from, of what a file holds."""
    keys = ((name, key) for name, given in values.items() if isinstance(given, dict) for key in given)
    return {path_text(at): f"from {file}" for at in (*((name,) for name in values), *keys)}


def _looked_for(at: KeyPath, file: Path | str | None) -> str:
    """Where a key that is nowhere was looked for, or a section that variables alone make."""
    variable = _PREFIX + "_".join(str(part) for part in at[:_KEY_PARTS]).upper()
    if len(at) < _KEY_PARTS:
        return f"from {variable}_…"
    return f"neither in {file} nor as {variable}" if file else f"there is no settings file, and no {variable}"


def settings_file(path: Path | str | None = None, *, environ: Mapping[str, str] | None = None) -> Path | str | None:
    """The file that the settings are read from, as the module's docstring says; None for none."""
    environ = os.environ if environ is None else environ
    return path or environ.get(f"{_PREFIX}SETTINGS") or (SYSTEM_FILE if SYSTEM_FILE.is_file() else None)


def _from_file(path: Path | str | None, environ: Mapping[str, str]) -> dict[str, Any]:
    chosen = settings_file(path, environ=environ)
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


def _unusable(message: str) -> InvalidSettings:
    return InvalidSettings([Problem(path="", message=message)])


def _from_environment(
    values: dict[str, Any], environ: Mapping[str, str]
) -> tuple[list[tuple[str, Problem]], dict[str, str]]:
    """Lay the environment over `values`.

    Returns:
        What is wrong with its names, each with the section, and key -> from which variable, for the rest.
    """
    problems: list[tuple[str, Problem]] = []
    came_from: dict[str, str] = {}
    if environ.get(f"{_PREFIX}OPERATOR"):
        values["operator"] = environ[f"{_PREFIX}OPERATOR"]
        came_from["operator"] = f"from {_PREFIX}OPERATOR"
    for section, keys in SECTIONS.items():
        prefix = f"{_PREFIX}{section.upper()}_"
        for variable in sorted(name for name in environ if name.startswith(prefix) and environ[name]):
            key = variable.removeprefix(prefix).lower()
            known = keys.get(key)
            if known is None:
                names = ", ".join(f"{prefix}{name.upper()}" for name in keys)
                message = f"unknown variable; known here: {names}"
                problems.append((section, Problem(path=variable, message=message)))
                continue
            _put(values, section, key, _typed(environ[variable], known))
            came_from[f"{section}.{key}"] = f"from {variable}"
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
        store=_store(section["store"]["database_url"], state_dir),
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
        retention=RetentionSettings(**section["retention"]),
        log=LogSettings(**section["log"]),
    )


def _store(named: str | None, state_dir: Path) -> StoreSettings:
    if named:
        return StoreSettings(database_url=named)
    return StoreSettings(database_url=f"sqlite:///{state_dir / 'fleet.db'}", by_default=True)


def _state_dir(environ: Mapping[str, str]) -> Path:
    """The shared state directory where there is one, else the user's own (XDG base directory specification)."""
    if SYSTEM_STATE_DIR.is_dir():
        return SYSTEM_STATE_DIR
    home = environ.get("XDG_STATE_HOME", "")
    # The specification says that a relative path is to be ignored.
    base = Path(home) if home.startswith("/") else Path(environ.get("HOME") or Path.home()) / ".local" / "state"
    return base / "better-compute"
