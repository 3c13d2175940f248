# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""JSON text to plain data, refusing what JSON readers understand differently: keys given twice, NaN and Infinity."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NoReturn

from ..model.errors import InvalidInput, Problem
from .bounds import MAX_PROBLEMS
from .spelling import KeyPath, path_text


def load(text: str) -> object:
    """Read one JSON value.

    Raises:
        InvalidInput: the text is no JSON, or has a key twice in one object.
    """
    repeated: list[tuple[dict[str, Any], str]] = []

    def as_dict(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        value = dict(pairs)
        if len(value) < len(pairs):
            seen: set[str] = set()
            for key, _value in pairs:
                if key in seen and len(repeated) < MAX_PROBLEMS:
                    repeated.append((value, key))
                seen.add(key)
        return value

    try:
        data = json.loads(text, object_pairs_hook=as_dict, parse_constant=_no_number)
        paths = dict(_places(data, {id(value) for value, _key in repeated})) if repeated else {}
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise InvalidInput([Problem(path="", message=f"not JSON: {error.msg} ({place})")]) from None
    except _NoNumber as error:
        raise InvalidInput([Problem(path="", message=f"not JSON that can be read: {error}")]) from None
    except RecursionError:
        raise InvalidInput([Problem(path="", message="not JSON that can be read: nested too deeply")]) from None
    except ValueError:  # Python converts no number of more than 4300 digits
        raise InvalidInput([Problem(path="", message="not JSON that can be read: a number is too long")]) from None
    if repeated:
        # The first value of a repeated key is not in the data any more: what is wrong in it waits for the next run.
        raise InvalidInput(
            [
                Problem(path=path_text((*paths[id(value)], key)), message="this key is there twice")
                for value, key in repeated
                if id(value) in paths
            ]
        )
    return data


class _NoNumber(ValueError):
    """A constant of JavaScript's that JSON does not have."""


def _no_number(name: str) -> NoReturn:
    raise _NoNumber(f"{name} is no number in JSON")


def _places(value: object, wanted: set[int], path: KeyPath = ()) -> Iterator[tuple[int, KeyPath]]:
    if isinstance(value, dict):
        if id(value) in wanted:
            yield id(value), path
        for key, below in value.items():
            yield from _places(below, wanted, (*path, key))
    elif isinstance(value, list):
        for index, below in enumerate(value):
            yield from _places(below, wanted, (*path, index))
