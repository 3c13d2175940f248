# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A token or identity in memory: a value that no log line, traceback or repr shows by accident."""

from __future__ import annotations

import hmac


class Secret:
    """Holds a credential. Only :meth:`reveal` gives it out."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        """Take the plain value into custody."""
        self._value = value

    def reveal(self) -> str:
        """The plain value: for the place where it leaves the process or goes into its 0600 file, and nowhere else."""
        return self._value

    def __repr__(self) -> str:
        return "Secret(…)"

    __str__ = __repr__

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and hmac.compare_digest(self._value.encode(), other._value.encode())

    def __hash__(self) -> int:
        return hash(self._value)
