# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Lists in pages: 20 a page unless asked otherwise, 200 at most, with links to the other pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final
from urllib.parse import urlencode

from .refusals import invalid

_USUAL: Final = 20
_LONGEST: Final = 200


def page(key: str, items: Sequence[Any], *, query: Mapping[str, str], url: str) -> dict[str, Any]:
    """One page.

    Arguments:
        key: what the list is called in the answer.
        items: all of them.
        query: the request's; `page` and `per_page` count.
        url: the request's without its query, for the links.
    """
    size = min(_number(query, "per_page", _USUAL), _LONGEST)
    number = _number(query, "page", 1)
    last = max(1, -(-len(items) // size))
    rest = {name: value for name, value in query.items() if name != "page"}

    def link(to: int) -> str:
        return f"{url}?{urlencode({**rest, 'page': to, 'per_page': size})}"

    pages = {}
    if number > 1:
        pages = {"first": link(1), "prev": link(number - 1)}
    if number < last:
        pages = {**pages, "next": link(number + 1), "last": link(last)}
    shown = list(items[(number - 1) * size : number * size])
    return {key: shown, "links": {"pages": pages} if pages else {}, "meta": {"total": len(items)}}


def _number(query: Mapping[str, str], name: str, usual: int) -> int:
    asked = query.get(name, str(usual))
    if not asked.isdecimal() or int(asked) < 1:
        raise invalid(f"invalid {name}")
    return int(asked)
