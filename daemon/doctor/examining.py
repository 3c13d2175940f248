# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Looks at everything that can be looked at: what is wrong in one place hides as little as possible of the others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ansible_collections.better_compute.fleet.plugins.module_utils._core.documents.settings import (
    ReadSettings,
    read_settings,
    settings_file,
    unknown_variables,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.clock import SystemClock
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import (
    FleetError,
    SchemaMismatch,
    StoreUnavailable,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.findings import Check, Verdict
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.checks.fleet import check_fleet
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.session import (
    Drivers,
    database_is_new,
    open_session,
)

from .addresses import check_addresses, check_gateway
from .certificate import check_certificate
from .this_host import check_files

_NOT_ASKED = "accounts, pools, clusters"


@dataclass(frozen=True, slots=True, kw_only=True)
class Examination:
    """What the doctor found.

    Attributes:
        settings_wrong: whether the settings have to be set right first.
    """

    checks: tuple[Check, ...]
    settings_wrong: bool

    def count(self, verdict: Verdict) -> int:
        """How many checks came to this."""
        return sum(check.verdict == verdict for check in self.checks)


def examine(path: str | None = None, *, drivers: Drivers, environ: Mapping[str, str] | None = None) -> Examination:
    """Look at everything. Changes nothing anywhere.

    Arguments:
        path, environ: see load_settings.
        drivers: operations.drivers.drivers.
    """
    read = read_settings(path, environ=environ)
    file = settings_file(path, environ=environ)
    now = SystemClock().now()
    checks = [
        *_settings(read, file, environ),
        *check_files(read, file),
        *_database(read, drivers),
        *check_certificate(read, now=now),
        *check_addresses(read, now=now),
        check_gateway(read),
    ]
    return Examination(checks=tuple(checks), settings_wrong=bool(read.problems))


def _settings(read: ReadSettings, file: Path | str | None, environ: Mapping[str, str] | None) -> list[Check]:
    about = "settings"
    checks = [
        Check(about=about, verdict=Verdict.PROBLEM, message=str(problem), cure="see docs/settings.md")
        for problem in read.problems
    ]
    for name in unknown_variables(environ):
        message = f"the environment's {name} is no setting"
        cure = "if it was meant as one, see docs/settings.md for its name"
        checks.append(Check(about=about, verdict=Verdict.WARNING, message=message, cure=cure))
    if not read.problems:
        came_from = f"{file} and the environment" if file else "the environment and defaults: there is no file"
        checks.append(Check(about=about, verdict=Verdict.OK, message=f"read from {came_from}"))
    return checks


def _database(read: ReadSettings, drivers: Drivers) -> list[Check]:
    """The database, its schema, and what it holds."""
    if "store" in read.wrong:
        return _closed("database", Verdict.NOT_CHECKED, "[store] in the settings is not right")
    try:
        with open_session(read.settings, drivers=drivers, if_missing="refuse") as session:
            where = Check(about="database", verdict=Verdict.OK, message=f"{session.store.name} answers")
            schema = Check(about="schema", verdict=Verdict.OK, message="is this version's")
            return [where, schema, *check_fleet(session, wrong=read.wrong)]
    except SchemaMismatch as error:
        return _closed("schema", Verdict.PROBLEM, str(error))
    except StoreUnavailable as error:
        cure = _NOT_MADE if database_is_new(read.settings) else _AWAY
        return _closed("database", Verdict.PROBLEM, str(error), cure)
    except FleetError as error:
        return _closed("database", Verdict.PROBLEM, str(error))


_NOT_MADE = (
    "the first run of bc_fleet makes it, and so does `bc-fleetd migrate`; if the fleet is recorded elsewhere, correct "
    "database_url in [store] of the settings"
)
_AWAY = "start the database, or correct database_url in [store] of the settings"


def _closed(about: str, verdict: Verdict, message: str, cure: str = "") -> list[Check]:
    rest = Check(about=_NOT_ASKED, verdict=Verdict.NOT_CHECKED, message="the database has to be right first")
    return [Check(about=about, verdict=verdict, message=message, cure=cure), rest]
