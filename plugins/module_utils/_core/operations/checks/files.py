# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What others on this host could read or write: files that hold secrets, and those that say whom to trust."""

from __future__ import annotations

import stat
from collections.abc import Iterable, Mapping
from pathlib import Path

from ...model.findings import Check, Verdict
from ...model.records import AccountRecord


def check_private(path: Path, *, about: str, holds: str) -> Check | None:
    """A file that holds a secret.

    Arguments:
        holds: what somebody gets who reads it.

    Returns:
        None where the file is not there: another check says so, or none has to.
    """
    mode = _mode(path)
    if mode is None:
        return None
    if mode & stat.S_IRWXO:
        message = f"{path} ({mode:04o}) is open to everybody on this host: it holds {holds}"
        return Check(about=about, verdict=Verdict.PROBLEM, message=message, cure=f"run `chmod o= {path}`")
    return Check(about=about, verdict=Verdict.OK, message=f"{path} is closed to others")


def check_guarded(path: Path, *, about: str, why: str) -> Check | None:
    """A file or folder that others may read and must not write.

    Arguments:
        why: what somebody could do who writes it.

    Returns:
        None where it is not there.
    """
    mode = _mode(path)
    if mode is None:
        return None
    if mode & stat.S_IWOTH:
        message = f"{path} ({mode:04o}) can be written by everybody on this host, who could {why}"
        return Check(about=about, verdict=Verdict.PROBLEM, message=message, cure=f"run `chmod o-w {path}`")
    return Check(about=about, verdict=Verdict.OK, message=f"{path} is written by its owner and group alone")


def check_credential_files(accounts: Iterable[AccountRecord]) -> tuple[Check, ...]:
    """The files that accounts have their credential in: those that are open to others, or one line for all."""
    named: dict[Path, str] = {}
    for account in accounts:
        source = account.config.get("credential")
        if isinstance(source, Mapping) and "file" in source:
            named.setdefault(Path(source["file"]).expanduser(), account.name)
    found = [
        check_private(path, about=f"account {name}", holds="the account's credential") for path, name in named.items()
    ]
    wrong = tuple(check for check in found if check and check.verdict == Verdict.PROBLEM)
    if wrong or not any(found):
        return wrong
    return (Check(about="credential files", verdict=Verdict.OK, message=f"{len(named)} are closed to others"),)


def _mode(path: Path) -> int | None:
    try:
        return stat.S_IMODE(path.stat().st_mode)
    except OSError:
        return None
