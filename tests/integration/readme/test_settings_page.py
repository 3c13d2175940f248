# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""docs/settings.md says every key of the settings file, its variable and its default."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from ansible_collections.better_compute.fleet.plugins.module_utils._core.documents.setting_keys import (
    OPERATOR,
    SECTIONS,
    Key,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.documents.settings import load_settings
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import InvalidInput
from ansible_collections.better_compute.fleet.tests.support.pages import DOCS, keyed_rows

_REQUIRED = "required"


def keys() -> Iterator[tuple[str, str]]:
    """Every key as the file spells it, with its default as the page should."""
    yield "operator", _default(OPERATOR)
    for section, known in SECTIONS.items():
        for name, key in known.items():
            yield f"{section}.{name}", _default(key)


def _default(key: Key) -> str:
    return _REQUIRED if key.required else f"`{key.default}`"


ROWS = keyed_rows(DOCS / "settings.md")


def test_the_page_has_every_key_and_no_other() -> None:
    assert sorted(ROWS) == sorted(key for key, _ in keys())


@pytest.mark.parametrize(("key", "default"), list(keys()))
def test_the_page_says_a_keys_default(key: str, default: str) -> None:
    told = ROWS[key][1]
    if default == "`None`":
        assert told != _REQUIRED
        assert not re.fullmatch(r"`[^`]+`", told)
    else:
        assert told == default


@pytest.mark.parametrize("key", [key for key, _ in keys()])
def test_the_page_says_the_variable_that_sets_a_key(key: str) -> None:
    variable = ROWS[key][0].strip("`")
    with pytest.raises(InvalidInput) as refused:
        load_settings(environ={variable: "\N{SNOWMAN} no value of any key"})
    places = {re.sub(r"\[\d+\]$", "", problem.path) for problem in refused.value.problems}
    assert key in places
