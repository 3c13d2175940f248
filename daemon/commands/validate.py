# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""`bc-fleetd validate`: whether documents can be taken, as far as they alone can say. No settings, no records.

What depends on what stands already, or on the provider (changes that are blocked, zones of subnets), a plan tells.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TextIO

from ansible_collections.better_compute.fleet.plugins.module_utils._core.documents.hopeless import hopeless
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import InvalidInput, Problem

from .document_file import called, read_document


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What is to be said of one document.

    Attributes:
        readable: False where the system did not let us read it: nothing is known of it.
        problems: none where it is valid.
    """

    readable: bool
    problems: tuple[Problem, ...]


def validate(names: Sequence[str]) -> dict[str, Verdict]:
    """Check each document once.

    Arguments:
        names: as read_document takes them.
    """
    return {name: _verdict(name) for name in names}


def _verdict(name: str) -> Verdict:
    try:
        problems = hopeless(read_document(name))
    except OSError as error:
        return Verdict(readable=False, problems=(Problem(path="", message=f"cannot be read: {error.strerror}"),))
    except InvalidInput as error:
        return Verdict(readable=True, problems=error.problems)
    return Verdict(readable=True, problems=problems)


def print_lines(verdicts: Mapping[str, Verdict], *, to: TextIO) -> None:
    """One line for each problem, with file and path; one for each file without any."""
    for name, verdict in verdicts.items():
        told = called(name)
        lines = [problem.of(told) for problem in verdict.problems] or [f"{told}: valid"]
        # A file's name is whatever bytes it is: those that are no text are escaped, and so is what the terminal lacks.
        encoding = to.encoding or "utf-8"
        to.writelines(f"{line}\n".encode(encoding, "backslashreplace").decode(encoding) for line in lines)


def print_json(verdicts: Mapping[str, Verdict], *, to: TextIO) -> None:
    """{file: [{path, message}]}, with an empty list for a valid file. The names are as they were given."""
    told = {
        name: [{"path": problem.path, "message": problem.message} for problem in verdict.problems]
        for name, verdict in verdicts.items()
    }
    json.dump(told, to, indent=2)
    to.write("\n")
