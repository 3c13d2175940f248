# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Our tags as Google's resource labels, and back.

Google allows lowercase letters, digits, `_` and `-` in them, 63 characters, and a key begins with a letter. Every other
character, and `_` itself, is written as `_` and two hexadecimal digits for each of its bytes, so nothing is lost.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from ...model.errors import InvalidRequest

_LONGEST_CHARACTERS = 63
"""Google's limit for a label's key and for its value."""

_NOT_PLAIN = re.compile(r"[^a-z0-9-]")
_ESCAPED = re.compile(r"(?:_[0-9a-f]{2})+")


def to_resource_labels(tags: Mapping[str, str]) -> dict[str, str]:
    """The resource labels that carry these tags.

    Raises:
        InvalidRequest: one of them cannot be written as a label; the text says which.
    """
    labels = {}
    for tag, value in tags.items():
        key, written = _escape(tag), _escape(value)
        if not key[:1].isalpha() or max(len(key), len(written)) > _LONGEST_CHARACTERS:
            raise InvalidRequest(f"tag {tag!r} with value {value!r} does not fit in a Google resource label")
        labels[key] = written
    return labels


def from_resource_labels(labels: Mapping[str, str]) -> dict[str, str]:
    """The tags that these labels carry; labels that others wrote come back as they are where they are not escaped."""
    return {_plain(key): _plain(value) for key, value in labels.items()}


def _escape(text: str) -> str:
    return _NOT_PLAIN.sub(lambda found: "".join(f"_{byte:02x}" for byte in found.group().encode()), text)


def _plain(text: str) -> str:
    return _ESCAPED.sub(
        lambda found: bytes.fromhex(found.group().replace("_", "")).decode(errors="replace"),
        text,
    )
