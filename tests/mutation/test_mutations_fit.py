# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The mutations still fit the code, and their guards exist: quick, so that who moves the code hears of it at once."""

from __future__ import annotations

import pytest

from ansible_collections.better_compute.fleet.tests.mutation.mutations import MUTATIONS, Edit
from ansible_collections.better_compute.fleet.tests.support.tree_copy import CHECKOUT

EDITS = sorted({edit for mutation in MUTATIONS for edit in mutation.edits}, key=lambda edit: (edit.file, edit.old))


@pytest.mark.parametrize("edit", EDITS, ids=lambda edit: edit.file)
def test_what_a_mutation_takes_out_stands_in_exactly_one_place(edit: Edit) -> None:
    assert (CHECKOUT / edit.file).read_text(encoding="utf-8").count(edit.old) == 1


@pytest.mark.parametrize("guard", sorted({guard for mutation in MUTATIONS for guard in mutation.guards}))
def test_a_mutations_guard_is_a_test_that_there_is(guard: str) -> None:
    file, *_classes, name = guard.split("::")
    assert f"def {name}(" in (CHECKOUT / file).read_text(encoding="utf-8")


def test_no_two_mutations_have_one_name() -> None:
    assert len({mutation.name for mutation in MUTATIONS}) == len(MUTATIONS)
