# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""From pydantic's errors to problems that a document's author understands: the path, what was expected, what was found.

What was found is shown only where it cannot be a secret: nothing under a `credential`, no unknown key's value, no URL.
"""

from __future__ import annotations

import typing
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ..model.errors import InvalidInput, Problem
from . import patterns
from .bounds import MAX_PROBLEMS
from .pydantic_shim import BaseModel, ValidationError
from .spelling import KeyPath, path_text
from .wording import found, unknown_key

_LONG_CHARACTERS = 40
"""Of a text that is not as expected: from here on its length may be what is wrong, and is told."""

_MOST_COUNTED = 10_000
"""A document with more wrong than this is not looked at any further."""

_KEY_OF_A_MAPPING = "[key]"
"""What pydantic puts after a key that is wrong itself."""

_TYPES = {
    "string_type": "a string",
    "int_type": "a whole number",
    "bool_type": "true or false",
    "list_type": "a list",
    "model_type": "a mapping",
    "model_attributes_type": "a mapping",
    "dict_type": "a mapping",
}


class Told:
    """Collects problems in the order in which they are to be told: the first hundred, and how many more there are."""

    def __init__(self) -> None:
        """Nothing is wrong yet."""
        self._problems: list[Problem] = []
        self._count = 0

    def add(self, told: Iterable[tuple[KeyPath, str]]) -> None:
        """Take some (path, message) pairs.

        Raises:
            InvalidInput: there are so many by now that there is no use in looking for more.
        """
        for path, message in told:
            self._count += 1
            if len(self._problems) < MAX_PROBLEMS:
                self._problems.append(Problem(path=path_text(path), message=message))
            elif self._count >= _MOST_COUNTED:
                raise InvalidInput([*self._problems, Problem(path="", message="… and thousands more")])

    def raise_any(self) -> None:
        """End here if anything is wrong.

        Raises:
            InvalidInput: with what was told.
        """
        if more := self._count - len(self._problems):
            raise InvalidInput([*self._problems, Problem(path="", message=f"… and {more} more")])
        if self._problems:
            raise InvalidInput(self._problems)


def from_pydantic(
    error: ValidationError, root: type[BaseModel], *, refused: Mapping[tuple[str, str], str], at: KeyPath = ()
) -> list[tuple[KeyPath, str]]:
    """Every error of a validation as (path, message), in the order of the model's fields.

    Arguments:
        root: the model that was validated.
        refused: (model's name, key) -> why a known word is refused, instead of "unknown key".
        at: where in the document the validated part stands.
    """
    told: dict[tuple[KeyPath, str], None] = {}
    for item in error.errors(include_url=False, include_input=True):
        path = item["loc"]
        if path[-1:] == (_KEY_OF_A_MAPPING,):
            told[(*at, *path[:-2]), f"a key must be a string, found {found(path[-2])}"] = None
            continue
        if item["type"] == "invalid_key":
            told[(*at, *path[:-1]), f"a key must be a string, found {found(path[-1])}"] = None
        elif item["type"] == "extra_forbidden":
            told[(*at, *path), _unknown_key(path, root, refused)] = None
        else:
            told[(*at, *path), _message(item["type"], item.get("ctx", {}), item["msg"], item["input"])] = None
    return list(told)


def nulls(value: object, path: KeyPath = ()) -> Iterator[KeyPath]:
    """The paths of every null in plain data."""
    if value is None:
        yield path
    elif isinstance(value, dict):
        for key, below in value.items():
            if not isinstance(below, str):  # most of a document is text
                yield from nulls(below, (*path, str(key)))
    elif isinstance(value, list):
        for index, below in enumerate(value):
            yield from nulls(below, (*path, index))


def as_problems(told: Sequence[tuple[KeyPath, str]]) -> list[Problem]:
    """The (path, message) pairs as problems with their paths spelt."""
    return [Problem(path=path_text(path), message=message) for path, message in told]


def _message(kind: str, context: Mapping[str, Any], fallback: str, value: object) -> str:
    if kind == "missing":
        return "is required, and is not there"
    if kind in _TYPES:
        # A text where a mapping or list belongs may be anything, a secret too: it is shown in a scalar's place only.
        told = "a string" if isinstance(value, str) and kind not in {"int_type", "bool_type"} else found(value)
        quoted = ": put it in quotes" if kind == "string_type" and isinstance(value, (int, float)) else ""
        return f"expected {_TYPES[kind]}, found {told}{quoted}"
    if kind == "string_unicode":
        return "expected text, found half a character (a surrogate alone)"
    if kind == "string_pattern_mismatch":
        length = f" ({len(value)} characters)" if isinstance(value, str) and len(value) > _LONG_CHARACTERS else ""
        return f"expected {patterns.MEANING[context['pattern']]}, found {found(value)}{length}"
    if kind in ("literal_error", "enum"):
        return f"expected {context['expected']}, found {found(value)}"
    if kind == "greater_than_equal":
        return f"expected at least {context['ge']}, found {found(value)}"
    if kind == "less_than_equal":
        return f"expected at most {context['le']}, found {found(value)}"
    if kind == "too_short":
        return f"expected at least {context['min_length']} items, found {context['actual_length']}"
    if kind == "too_long":
        return f"expected at most {context['max_length']} items, found {_length(value)}"
    if kind == "value_error":
        return str(context["error"])
    return fallback


def _length(value: object) -> str:
    return str(len(value)) if isinstance(value, list) else "more"


def _unknown_key(path: KeyPath, root: type[BaseModel], refused: Mapping[tuple[str, str], str]) -> str:
    model = _model_at(root, path[:-1])
    key = str(path[-1])
    if (model.__name__, key) in refused:
        return refused[model.__name__, key]
    return unknown_key(key, [str(field.alias or name) for name, field in model.model_fields.items()])


def _model_at(root: type[BaseModel], path: KeyPath) -> type[BaseModel]:
    """The model that stands at a path: the one whose keys the author was choosing from."""
    model = root
    for part in path:
        if isinstance(part, int):
            continue
        for name, field in model.model_fields.items():
            if part in (field.alias, name):
                model = next(_models_in(field.annotation), model)
                break
    return model


def _models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for argument in typing.get_args(annotation):
        yield from _models_in(argument)
