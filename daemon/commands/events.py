# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""`bc-fleetd events`: what happened, an event a line, or as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import IO, Any

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.clock import stamp
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import OperationError
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.records import ToldEvent
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations import events
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.session import Session

from ..errors import NotAsAsked
from ..terminal import printable


def read(session: Session, *, pool: str | None, since: str | None, limit: int) -> tuple[ToldEvent, ...]:
    """The events that were asked for.

    Raises:
        NotAsAsked: there is no such pool or event.
    """
    try:
        return events.read_events(session, pool=pool, since=since, limit=limit)
    except OperationError as error:
        raise NotAsAsked(str(error)) from error


def print_json(told: Sequence[ToldEvent], *, to: IO[str]) -> None:
    """`{"events": […]}`, in order."""
    to.write(json.dumps({"events": [events.to_data(one) for one in told]}, indent=2) + "\n")


def print_lines(told: Sequence[ToldEvent], *, to: IO[str]) -> None:
    """A line for each: when, its id, what, in which pool, of what, and the rest as `key=value`."""
    for one in told:
        event = one.event
        data = (f"{key}={_value(value)}" for key, value in event.data.items() if value not in ("", None))
        words = (stamp(event.at), event.id, event.type, one.pool or "-", event.subject, *data)
        to.write(printable(" ".join(words)) + "\n")


def _value(value: Any) -> str:
    """One word: quoted where it would be several."""
    text = str(value)
    return text if text.isprintable() and not set(text) & set(' "=') else json.dumps(text, ensure_ascii=False)
