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


def needs_of_the_subject(name: str, *, unless_it_says: bool = False) -> Callable[[Case], Case]:
    """The case is asked of subjects that have something optional: see subject.py.

    Arguments:
        name: of the method or attribute. One that is False is as one that is not there.
        unless_it_says: what a subject means that does not have it.
    """

    def only_then(case: Case) -> Case:
        @functools.wraps(case)
        def asked(subject: Subject) -> None:
            if not getattr(subject, name, unless_it_says):
                raise SkippedByFlag(f"subject.{name}", f"the subject has no {name}")
            case(subject)

        return asked

    return only_then
