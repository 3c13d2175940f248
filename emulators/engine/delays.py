# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How long things take, as a record that can be shortened as a whole."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from types import MappingProxyType
from typing import Any, Final, Self

PATIENCE: Final[Mapping[str, Any]] = MappingProxyType({"patience": True})
"""The metadata of a field that is how long somebody waits for others: their work does not become faster with haste."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Delays:
    """The base of records of seconds on the engine's clock."""

    def divided_by(self, haste: float) -> Self:
        """The same, so many times as fast; PATIENCE stays."""
        hurried = [delay.name for delay in fields(self) if "patience" not in delay.metadata]
        return replace(self, **{name: getattr(self, name) / haste for name in hurried})
