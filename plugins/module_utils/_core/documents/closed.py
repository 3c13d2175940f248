# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How every model of a document is: closed, strict, camelCase, and without what was found in its errors."""

from __future__ import annotations

from .pydantic_shim import ConfigDict
from .spelling import camel

# defer_build: no document uses every model, and most runs only some of them.
CLOSED = ConfigDict(
    extra="forbid", strict=True, frozen=True, alias_generator=camel, hide_input_in_errors=True, defer_build=True
)
