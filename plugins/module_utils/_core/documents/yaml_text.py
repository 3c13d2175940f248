# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""YAML text to plain data, refusing YAML's surprises.

A plain scalar is a string, a plain decimal number, true, false or null; what YAML 1.1 reads as something else (`no`,
`on`, `0123`, `22:22`, `1_000`, dates) must be quoted. No anchors, aliases, merges, tags, second documents or repeated
keys. The values are built from the parser's events, one by one: nothing is expanded, so nothing can explode.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from ..model.errors import InvalidInput, Problem
from .bounds import MAX_DEPTH, MAX_PROBLEMS
from .spelling import KeyPath, path_text

_INTEGER = re.compile(r"-?(0|[1-9][0-9]{0,18})", re.ASCII)
_DECIMAL = re.compile(r"-?(0|[1-9][0-9]{0,18})\.[0-9]{1,18}", re.ASCII)
_WORDS = {
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
    **dict.fromkeys(("null", "Null", "NULL", "~", ""), None),
}


def load(text: str) -> object:
    """Read one YAML document.

    Raises:
        InvalidInput: the text is no YAML, or holds what readers understand differently.
        ModuleNotFoundError: PyYAML is missing.
    """
    import yaml

    # libyaml's parser gives the same events ten times faster, where PyYAML was built with it.
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    reading = _Reading(events=iter(yaml.parse(text, Loader=loader)), resolvers=yaml.SafeLoader.yaml_implicit_resolvers)
    try:
        data = reading.document()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        place = f" (line {mark.line + 1}, column {mark.column + 1})" if mark else ""
        raise InvalidInput([Problem(path="", message=f"not YAML: {error.problem}{place}")]) from None
    except yaml.YAMLError:
        raise InvalidInput([Problem(path="", message="not YAML: a character that YAML does not allow")]) from None
    if reading.problems:
        raise InvalidInput(reading.problems)
    return data


class _Reading:
    """One pass over a document's events."""

    def __init__(self, *, events: Iterator[Any], resolvers: dict[str, list[tuple[str, re.Pattern[str]]]]) -> None:
        self._events = events
        self._resolvers = resolvers
        self.problems: list[Problem] = []

    def document(self) -> object:
        value: object = None
        count = 0
        for event in self._events:
            match type(event).__name__:
                case "DocumentStartEvent":
                    count += 1
                    if count > 1:
                        self._tell((), event, "a second document begins: a file holds one")
                        return value
                case "StreamStartEvent" | "StreamEndEvent" | "DocumentEndEvent":
                    pass
                case _:
                    value = self._value(event, ())
        if count == 0:
            self.problems.append(Problem(path="", message="the document is empty"))
        return value

    def _tell(self, path: KeyPath, event: Any, message: str) -> None:
        self.problems.append(Problem(path=path_text(path), message=f"{message} (line {event.start_mark.line + 1})"))
        if len(self.problems) >= MAX_PROBLEMS:
            raise InvalidInput(self.problems)

    def _value(self, event: Any, path: KeyPath) -> object:
        kind = type(event).__name__
        if kind == "AliasEvent":
            self._tell(path, event, "aliases (*) are not taken: write the value out")
            return None
        if event.anchor is not None:
            self._tell(path, event, "anchors (&) are not taken: write the value out where it is meant")
        if event.tag is not None:
            self._tell(path, event, "tags (!) are not taken")
        if kind == "ScalarEvent":
            return self._scalar(event, path)
        if len(path) >= MAX_DEPTH:
            self._tell(path, event, f"nested more than {MAX_DEPTH} deep")
            raise InvalidInput(self.problems)
        return self._sequence(path) if kind == "SequenceStartEvent" else self._mapping(path)

    def _sequence(self, path: KeyPath) -> list[object]:
        values: list[object] = []
        for event in self._events:
            if type(event).__name__ == "SequenceEndEvent":
                break
            values.append(self._value(event, (*path, len(values))))
        return values

    def _mapping(self, path: KeyPath) -> dict[str, object]:
        values: dict[str, object] = {}
        for event in self._events:
            if type(event).__name__ == "MappingEndEvent":
                break
            if type(event).__name__ in {"MappingStartEvent", "SequenceStartEvent"}:
                # Not read on: keys nested in keys have no path that could be measured, and no end.
                self._tell(path, event, "a key must be a string")
                raise InvalidInput(self.problems)
            key = self._value(event, path)
            below = (*path, key) if isinstance(key, str) else path
            if not isinstance(key, str):
                self._tell(path, event, "a key must be a string: put it in quotes")
            elif key in values:
                self._tell(below, event, "this key is there twice")
            value = self._value(next(self._events), below)
            if isinstance(key, str):
                values[key] = value
        return values

    def _scalar(self, event: Any, path: KeyPath) -> object:
        text: str = event.value
        if event.style:  # quoted, or a block: a string, whatever is in it
            return text
        if text in _WORDS:
            return _WORDS[text]
        if _INTEGER.fullmatch(text):
            return int(text)
        if _DECIMAL.fullmatch(text):
            if str(float(text)) != text:  # a version 1.30 would be 1.3
                self._tell(path, event, f"a plain {text[:40]} is read as the number {float(text)}: put it in quotes")
            return float(text)
        for _tag, pattern in self._resolvers.get(text[:1], []):
            if pattern.match(text):
                self._tell(
                    path, event, f"YAML readers differ on a plain {text[:40]}: put it in quotes if a string is meant"
                )
                break
        return text
