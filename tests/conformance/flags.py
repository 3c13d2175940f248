# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which subjects a case is asked of: a case that a capability rules out is skipped by its flag, and says by which."""

from __future__ import annotations

import functools
from collections.abc import Callable

from _pytest.outcomes import Skipped

from .subject import Case, Subject


class SkippedByFlag(Skipped):
    """The subject is not asked. `flag` is why: a field of Capabilities, or `subject.<method>` that it does not have."""

    def __init__(self, flag: str, because: str) -> None:
        """Keep the flag beside the text."""
        super().__init__(because)
        self.flag = flag


def needs(**flags: bool) -> Callable[[Case], Case]:
    """The case is asked of providers whose Capabilities say exactly this, e.g. `@needs(spot=True)`."""

    def only_there(case: Case) -> Case:
        @functools.wraps(case)
        def asked(subject: Subject) -> None:
            capabilities = subject.open().capabilities
            for flag, value in flags.items():
                held = getattr(capabilities, flag)
                if held is not value:
                    raise SkippedByFlag(flag, f"{flag} is {held} at {capabilities.title}")
            case(subject)

        return asked

    return only_there


def needs_of_the_subject(method: str) -> Callable[[Case], Case]:
    """The case is asked of subjects that have the method, which none must have: see subject.py."""

    def only_then(case: Case) -> Case:
        @functools.wraps(case)
        def asked(subject: Subject) -> None:
            if not hasattr(subject, method):
                raise SkippedByFlag(f"subject.{method}", f"the subject has no {method}()")
            case(subject)

        return asked

    return only_then
