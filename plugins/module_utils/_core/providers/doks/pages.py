# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Lists, paged through to the end: complete or an error."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...model.errors import Unavailable
from .calls import Calls

ITEMS_PER_PAGE = 200
"""DigitalOcean gives no more at once."""

_MOST_PAGES = 1000
"""A list that goes on after so many repeats itself."""


def read_all(call: Calls, key: str, method: Callable[..., Any], **filters: str) -> list[dict[str, Any]]:
    """All items of a list.

    Arguments:
        key: of the list in the reply, e.g. `kubernetes_clusters`.
        method: gives a page.
        filters: its other arguments.

    Raises:
        Unavailable: it changed while it was read, so that something may be missing: pages are counted, not marked.
    """
    found: dict[str, dict[str, Any]] = {}
    total = 0
    for page in range(1, _MOST_PAGES + 1):
        reply = call(method, per_page=ITEMS_PER_PAGE, page=page, **filters)
        items = reply[key] or []
        found |= {str(item["id"]): item for item in items}
        total = (reply.get("meta") or {}).get("total", len(found))
        if not ((reply.get("links") or {}).get("pages") or {}).get("next"):
            break
    if len(found) < total:
        raise Unavailable(f"DigitalOcean's list of {key} changed while it was read: {len(found)} of {total}")
    return list(found.values())
