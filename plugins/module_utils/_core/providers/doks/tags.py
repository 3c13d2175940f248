# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The owner's marks as DigitalOcean's tags: one text of letters, digits, `_`, `-` and `:` for each. No I/O."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

_ESCAPE = re.compile(r"_([0-9a-f]{2})")
_ENCODED = re.compile(r"(?:[A-Za-z0-9-]|_[0-9a-f]{2})*")


def to_tags(marks: Mapping[str, str]) -> list[str]:
    """One tag `key:value` for each mark, sorted; every other byte than a letter, digit or `-` is `_` and its hex."""
    return sorted(f"{_encoded(key)}:{_encoded(value)}" for key, value in marks.items())


def from_tags(tags: Iterable[str]) -> dict[str, str]:
    """The marks among a resource's tags. What to_tags never writes (`k8s:worker` it would) is left out."""
    pairs = (tag.split(":") for tag in tags)
    return {
        _decoded(pair[0]): _decoded(pair[1])
        for pair in pairs
        if len(pair) == 2 and all(_ENCODED.fullmatch(part) for part in pair)
    }


def _encoded(text: str) -> str:
    return re.sub(rb"[^A-Za-z0-9-]", lambda byte: b"_%02x" % byte[0][0], text.encode()).decode("ascii")


def _decoded(text: str) -> str:
    plain = _ESCAPE.sub(lambda escape: chr(int(escape[1], 16)), text)
    return plain.encode("latin-1").decode("utf-8", errors="replace")
