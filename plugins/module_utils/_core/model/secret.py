# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A secret in memory: a value that no log line, traceback, result or serialiser shows by accident."""

from __future__ import annotations

import hashlib
import hmac
from typing import Any, NoReturn


class Secret:
    """Holds a token or credential. Only :meth:`reveal` gives it out; printing, formatting and pickling do not."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        """Take the plain value into custody."""
        self._value = value

    def reveal(self) -> str:
        """The plain value: to be used at the very place where it leaves the process, and nowhere else."""
        return self._value

    def sha256(self) -> str:
        """The value's SHA-256 in lower-case hex: the only form in which a token may be stored.

        Plain SHA-256 is right for tokens of 128 random bits and more: there is nothing to guess.
        """
        return hashlib.sha256(self._value.encode()).hexdigest()

    def matches(self, digest: str) -> bool:
        """Whether the value has this SHA-256 (lower-case hex), compared in constant time."""
        return hmac.compare_digest(self.sha256(), digest)

    def __repr__(self) -> str:
        return "Secret(…)"

    __str__ = __repr__

    def __format__(self, spec: str) -> str:
        return repr(self)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and hmac.compare_digest(self._value.encode(), other._value.encode())

    def __hash__(self) -> int:
        return hash(self.sha256())

    def __reduce__(self) -> NoReturn:
        raise TypeError("a Secret is not pickled")

    def __deepcopy__(self, memo: dict[int, Any]) -> Secret:
        return self
