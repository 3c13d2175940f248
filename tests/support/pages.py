# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The checkout's pages for people, taken apart: fenced blocks, tables, code within the text, links.

What a page's fences mean, which the tests rely on: `sh` are commands that are true as they stand, one a line; `toml`
are settings that load; `json` is data that the page's test knows; `text` is for the eye.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]
CORE = CHECKOUT / "plugins" / "module_utils" / "_core"
README = CHECKOUT / "README.md"
DOCS = CHECKOUT / "docs"

PAGES = (README, *sorted(DOCS.glob("*.md")), CHECKOUT / "agent" / "README.md", CHECKOUT / "wire" / "README.md")

_FENCE = re.compile(r"^```(?P<language>\S*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"`([^`\n]+)`")
_LINK = re.compile(r"\]\(([^)\s]+)\)")
_FILE_ENDINGS = (".py", ".json", ".yml", ".toml", ".md", ".lock", ".txt")


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A path of the checkout that a page names, and perhaps what is defined there: `nodes/matching.py:match`."""

    path: str
    name: str

    @property
    def file(self) -> Path | None:
        """Where it is: below the checkout, or below the core; None when there is no such path."""
        return next((base / self.path for base in (CHECKOUT, CORE) if (base / self.path).exists()), None)


def blocks(page: Path, language: str) -> list[str]:
    """The fenced blocks in one language."""
    found = _FENCE.finditer(page.read_text(encoding="utf-8"))
    return [match["text"] for match in found if match["language"] == language]


def prose(page: Path) -> str:
    """The page without its fenced blocks."""
    return _FENCE.sub("", page.read_text(encoding="utf-8"))


def commands(page: Path) -> list[str]:
    """The lines of its `sh` blocks."""
    return [line.strip() for block in blocks(page, "sh") for line in block.splitlines() if line.strip()]


def code(page: Path) -> list[str]:
    """What stands in single backticks."""
    return _CODE.findall(prose(page))


def places(page: Path) -> Iterator[Place]:
    """The paths of the checkout among the page's code: those with a slash that end like a file or a folder.

    Absolute paths are the reader's machine's, and what is below build/ is made by running something.
    """
    for text in code(page):
        path, _, name = text.partition(":")
        looks_like_one = "/" in path and path.endswith((*_FILE_ENDINGS, "/")) and re.fullmatch(r"[\w./-]+", path)
        if looks_like_one and not path.startswith(("/", "build/")):
            yield Place(path=path, name=name)


def links(page: Path) -> list[str]:
    """The targets of its links to files, without the part after `#`."""
    found = (target.partition("#")[0] for target in _LINK.findall(page.read_text(encoding="utf-8")))
    return [target for target in found if target and "://" not in target]


def table_rows(page: Path) -> list[list[str]]:
    """The cells of all its tables' rows, header and rule rows included."""
    lines = prose(page).splitlines()
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines if line.startswith("|")]


def keyed_rows(page: Path) -> dict[str, list[str]]:
    """Table rows whose first cell is one piece of code, by that code; the other cells as they are."""
    found: dict[str, list[str]] = {}
    for first, *others in table_rows(page):
        key = first.lstrip("| ")
        if re.fullmatch(r"`[^`]+`", key):
            assert key.strip("`") not in found, f"{key} stands twice in {page.name}"
            found[key.strip("`")] = others
    return found


def defined_names(file: Path) -> set[str]:
    """What a Python file defines at its top level, and the members of its classes as `Class.member`."""
    names: set[str] = set()
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        names |= set(_names_of(node))
        if isinstance(node, ast.ClassDef):
            names |= {f"{node.name}.{name}" for member in node.body for name in _names_of(member)}
    return names


def _names_of(node: ast.stmt) -> Iterator[str]:
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            yield node.name
        case ast.Assign(targets=targets):
            yield from (target.id for target in targets if isinstance(target, ast.Name))
        case ast.AnnAssign(target=ast.Name(id=name)):
            yield name
