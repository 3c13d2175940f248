# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How documents and settings tell of what was found in them, and of keys that nobody knows. Needs no library."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

_SHOWN_CHARACTERS = 60
"""Of a text that was found: enough to recognise it."""

_NAME_CHARACTERS = 128
"""No name, tenant or place is longer."""

_CLOSE_ENOUGH = 0.6
"""difflib's measure above which a known key is worth suggesting."""

_MOST_BITS_SHOWN = 200
"""Of a number: 60 digits. Python refuses to write out those of more than 4300."""

CREDENTIAL_ADVICE = (
    'a secret never stands in a document: credential says where it is, with {"env": NAME} or {"file": "/PATH"}'
)

_SECRET_WORDS = ("secret", "password", "token", "accesskey", "privatekey", "credentials")
"""A key with one of these in it (case and underscores aside) is somebody's secret that went astray."""


def found(value: object) -> str:
    """A value in a few words: its kind, and itself where that is short and plain."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case int() if value.bit_length() > _MOST_BITS_SHOWN:
            return "a very long number"
        case int() | float():
            return f"the number {str(value)[:_SHOWN_CHARACTERS]}"
        case str():
            shown = value[:_SHOWN_CHARACTERS]
            return f"the string {json.dumps(shown)}" + ("…" if len(value) > len(shown) else "")
        case Mapping():
            return "a mapping"
        case list() | tuple():
            return "a list"
    return f"a {type(value).__name__}"


def shown(name: object) -> str:
    """A name as it stands where it is a plain one; else in quotes, and cut."""
    plain = isinstance(name, str) and len(name) <= _NAME_CHARACTERS and name.isascii() and name.isprintable()
    return str(name) if plain else found(name)


def looks_secret(key: str) -> bool:
    """Whether an unknown key's name says that a secret stands there."""
    bare = key.replace("_", "").replace("-", "").lower()
    return any(word in bare for word in _SECRET_WORDS)


def unknown_key(key: str, known: Iterable[str]) -> str:
    """Why a key is refused that is none of the known ones, and which may have been meant."""
    if len(key) > _SHOWN_CHARACTERS:
        return "unknown key"  # no misspelling of ours, and comparing it would take long
    import difflib  # takes longer to load than most runs take to find nothing wrong

    by_folded = {name.replace("_", "").lower(): name for name in known}
    near = difflib.get_close_matches(key.replace("_", "").lower(), list(by_folded), n=1, cutoff=_CLOSE_ENOUGH)
    if near:
        return f"unknown key; did you mean {by_folded[near[0]]}?"
    if looks_secret(key):
        return f"unknown key; {CREDENTIAL_ADVICE}"
    return f"unknown key; known here: {', '.join(sorted(by_folded.values(), key=lambda name: name.lstrip('$')))}"
