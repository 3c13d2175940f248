# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How the document spells things: camelCase keys, and paths such as `pools[2].policy.substrate.flavors[0].nodes`."""

from __future__ import annotations

import re
from typing import TypeAlias

KeyPath: TypeAlias = "tuple[str | int, ...]"
"""Keys and indexes from the document's root."""

_PLAIN_KEY = re.compile(r"\$?[A-Za-z_][A-Za-z0-9_-]{0,58}", re.ASCII)
_SHOWN_KEY_CHARACTERS = 60


def camel(name: str) -> str:
    """`machine_type` -> `machineType`."""
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


def path_text(path: KeyPath) -> str:
    """A path as the document's author would write it; keys that are no plain word are quoted, and cut when long."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        elif _PLAIN_KEY.fullmatch(part):
            text += f".{part}" if text else part
        else:
            text += f"[{part[:_SHOWN_KEY_CHARACTERS]!a}]"
    return text
