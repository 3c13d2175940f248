# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The shapes of DigitalOcean's answers as pydo knows them, and what is wrong with an answer beside its shape.

pydo was made from DigitalOcean's OpenAPI model and has neither classes nor schemas: what is left of the model are the
examples in its docstrings, one for each status, with a value of the right type in every place. They are read here.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from typing import Any

_EXAMPLE = re.compile(
    r"# response body for status code\(s\): ([0-9, ]+)\n\s*response == (.*?)(?=\n\s*# response body|\Z)", re.DOTALL
)
_STRUCTURE = re.compile(r'("\w+": |[\]\[{}]|"str"|(0|0\.0|bool|True|False)(,|  #|$)|bytes\()')
"""How a line begins that is no more of a comment: pydo wraps its comments without a new `#`."""


@cache
def shapes(documentation: str) -> dict[int, Any]:
    """The example of each status in the documentation of an operation.

    Raises:
        ValueError: it has none: pydo writes them in another way now.
    """
    found = {}
    for statuses, example in _EXAMPLE.findall(documentation):
        shape = ast.literal_eval(_without_comments(example))
        found.update({int(status): shape for status in statuses.split(",")})
    if not found:
        raise ValueError("there is no example of an answer")
    return found


def differences(answer: Any, shape: Any, *, path: str = "") -> Iterator[str]:
    """What an answer has that the shape does not know, or has in another type.

    Fields may be missing: almost all are optional. Null stands for anything.
    """
    if answer is None or shape == {}:
        return
    if isinstance(shape, dict) and isinstance(answer, dict):
        for key, value in answer.items():
            if key in shape:
                yield from differences(value, shape[key], path=f"{path}.{key}")
            else:
                yield f"{path}.{key} is not known"
    elif isinstance(shape, list) and isinstance(answer, list):
        for value in answer:
            yield from differences(value, shape[0], path=f"{path}[]")
    elif type(answer) is not type(shape):
        yield f"{path} is of type {type(answer).__name__}, not {type(shape).__name__}"


def _without_comments(example: str) -> str:
    kept: list[str] = []
    whole = re.sub(r'"2020-02-20\s+00:00:00"', '"2020-02-20 00:00:00"', example)
    for line in whole.splitlines():
        text = line.strip()
        if kept and _STRUCTURE.match(text) is None:
            continue
        kept.append(text.partition("#")[0])
    plain = re.sub(r"\bbool\b", "True", "\n".join(kept))
    return re.sub(r'bytes\("bytes", encoding="utf-8"\)', '"str"', plain).strip()
