# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The emulated API answers every probe as the real one did."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from .answers import answers
from .emulated import emulated_subject
from .probes import PROBES
from .subject import ApiSubject


@pytest.fixture
def subject() -> Iterator[ApiSubject]:
    with emulated_subject() as made:
        yield made


@pytest.mark.parametrize("name", PROBES)
def test_the_emulated_api_answers_as_the_real_one(subject: ApiSubject, name: str) -> None:
    assert PROBES[name](subject) == answers()[name]


def test_there_is_an_answer_to_every_probe_and_no_other() -> None:
    assert set(answers()) == set(PROBES)
