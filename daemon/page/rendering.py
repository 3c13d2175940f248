# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The page's document: what was read, in HTML. No script, nothing from elsewhere, and no names but the fleet's own."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from pathlib import Path
from typing import Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template

from ..fleet_now import Fleet
from ..standing import standing_of

_FOLDER = Path(__file__).parent

AGAIN_SECONDS = 15
"""After which a browser asks again: half of the time between two passes of a pool that is on its way."""

_STYLE: Final = (_FOLDER / "status.css").read_text(encoding="utf-8")

HEADERS: Final = {
    "Cache-Control": "no-store",
    # Whatever got into a name or a message, the browser runs none of it, and nobody frames the page.
    "Content-Security-Policy": (
        "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
        f"style-src 'sha256-{base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()}'"
    ),
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
"""What goes with the document."""


def render(fleet: Fleet) -> str:
    """The document."""
    ready = sum(view.ready for view in fleet.pools)
    return _template().render(
        fleet=fleet, ready=ready, again_seconds=AGAIN_SECONDS, style=_STYLE, standing_of=standing_of
    )


@cache
def _template() -> Template:
    made = Environment(
        loader=FileSystemLoader(_FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return made.get_template("status.html.j2")
