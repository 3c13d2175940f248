# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Operations read: one, or all of a location. They are remembered for ever."""

from __future__ import annotations

from google.cloud.container_v1.types import cluster_service as api

from .errors import not_found
from .project import PROJECT_ID
from .records import Message, kind_of_location
from .state import State, parse


def get(state: State, request: Message) -> Message:
    """GetOperation."""
    wanted = parse(request.name)
    operation = state.operations.get(wanted["operation"])
    if operation is None or operation.location != wanted["location"]:
        location = wanted["location"]
        where = f"projects/{PROJECT_ID}/{kind_of_location(location)}/{location}"
        raise not_found(f"{where}/operations/{wanted['operation']}")
    return operation.describe(state.engine.clock.now())


def list_all(state: State, request: Message) -> Message:
    """ListOperations of a location, or of all with `-`."""
    location = parse(request.parent)["location"]
    now = state.engine.clock.now()
    return api.ListOperationsResponse.pb()(
        operations=[o.describe(now) for o in state.operations.values() if location in ("-", o.location)]
    )
