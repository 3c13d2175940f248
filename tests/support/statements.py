# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a store sends to its database: for tests of how many statements something takes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import event

from ansible_collections.better_compute.fleet.plugins.module_utils._core.store import Store


@contextmanager
def statements(store: Store) -> Iterator[list[str]]:
    """What is sent to the database within the block; many executions of one statement are sent at once."""
    sent: list[str] = []

    def heard(_connection: Any, _cursor: Any, statement: str, *_more: Any) -> None:
        sent.append(statement)

    event.listen(store._engine, "before_cursor_execute", heard)
    try:
        yield sent
    finally:
        event.remove(store._engine, "before_cursor_execute", heard)
