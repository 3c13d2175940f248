# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every hour the daemon looks for what may be forgotten. Daemons on one database need not agree whose turn it is."""

from __future__ import annotations

import logging
from collections import Counter

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import StoreUnavailable
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.retention import Kind
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.housekeeping import forget_history
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.session import Session

from ..metrics import Metrics
from .outage import Outage

_LOG = logging.getLogger(__name__)

HOUSEKEEPING_SECONDS = 3600.0
"""Between two runs. What an hour leaves behind is little, and a run that finds nothing costs a few reads."""

FIRST_SECONDS = 60.0
"""From the start to the first run: a daemon that is started anew every half hour keeps house, too, but not before the
machines that wait for it are served."""


def keep_house(session: Session, outage: Outage, metrics: Metrics) -> None:
    """One run. What cannot be done now is done by the next one."""
    if outage.lasts():
        return
    forgotten: Counter[Kind] = Counter()

    def told(kind: Kind, many: int) -> None:
        forgotten[kind] += many
        metrics.forgotten(kind, many)

    try:
        forget_history(session, told=told)
    except StoreUnavailable as error:
        outage.failed(error)
    if forgotten:
        days = session.settings.retention.days
        counts = ", ".join(f"{many} {str(kind).replace('_', ' ')}" for kind, many in forgotten.items())
        _LOG.info("history of more than %d days ago is forgotten: %s", days, counts)
