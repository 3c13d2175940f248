# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the pages name is there: files, folders, functions, the sections that Galaxy expects."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ansible_collections.better_compute.fleet.tests.conformance.cases import CASES
from ansible_collections.better_compute.fleet.tests.support.pages import (
    CHECKOUT,
    DOCS,
    PAGES,
    README,
    defined_names,
    links,
    places,
    prose,
    table_rows,
)

_BEHAVIOURS = DOCS / "provider-behaviours.md"
_LONGEST_README_LINES = 200
_GALAXY_SECTIONS = (
    "Description",
    "Requirements",
    "Installation",
    "Use cases",
    "Testing",
    "Support",
    "Release notes",
    "License",
)

each_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(CHECKOUT)))


@each_page
def test_every_link_of_a_page_leads_to_a_file(page: Path) -> None:
    assert [target for target in links(page) if not (page.parent / target).exists()] == []


@each_page
def test_every_path_that_a_page_names_exists(page: Path) -> None:
    assert [place.path for place in places(page) if place.file is None] == []


@each_page
def test_every_function_that_a_page_names_is_defined_where_it_says(page: Path) -> None:
    named = [(place.file, place.name) for place in places(page) if place.name and place.file]
    assert [f"{file}:{name}" for file, name in named if name not in defined_names(file)] == []


def test_the_architecture_page_walks_through_every_room_of_the_core() -> None:
    rooms = {path.parent.name for path in (CHECKOUT / "plugins" / "module_utils" / "_core").glob("*/__init__.py")}
    told = {place.path.split("/")[0] for place in places(DOCS / "architecture.md")}
    assert rooms - told == {"ansible_io"}  # named as the outermost layer; the modules' own pages describe it


def test_the_readme_has_the_sections_that_galaxy_expects() -> None:
    headings = [line.removeprefix("## ") for line in prose(README).splitlines() if line.startswith("## ")]
    assert [section for section in _GALAXY_SECTIONS if section not in headings] == []


def test_the_readme_is_short_enough_to_be_read() -> None:
    assert len(README.read_text(encoding="utf-8").splitlines()) < _LONGEST_README_LINES


def test_the_readme_names_all_that_a_change_must_pass() -> None:
    stages = [line.split() for line in (CHECKOUT / ".ci" / "run").read_text().splitlines()]
    targets = [words[2] for words in stages if words[:2] == ["stage", "make"]]
    assert targets
    text = README.read_text(encoding="utf-8")
    assert [target for target in targets if f"make {target}" not in text] == []


def test_every_behaviour_of_a_provider_has_a_test_or_a_reason() -> None:
    rows = [row for row in table_rows(_BEHAVIOURS) if not row[0].startswith("---")]
    assert [row for row in rows if len(row) != 3] == []
    assert rows
    assert [behaviour for behaviour, shown, why in rows if not shown.strip() and not why.strip()] == []


def test_what_shows_a_behaviour_of_a_provider_is_a_test_or_a_conformance_case() -> None:
    cases = {case.__name__ for case in CASES}
    named = [place.name for place in places(_BEHAVIOURS) if place.name]
    assert [name for name in named if not name.rpartition(".")[2].startswith("test_") and name not in cases] == []


@each_page
def test_no_page_names_a_path_of_the_machine_it_was_written_on(page: Path) -> None:
    assert os.fspath(CHECKOUT) not in page.read_text(encoding="utf-8")
