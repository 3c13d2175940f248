# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""All the cases. Each is a function of a subject at which nothing exists yet, and is named for what it asks."""

from __future__ import annotations

from .changes import CHANGES
from .clusters import CLUSTERS
from .faults import FAULTS
from .life import bring_up, tear_down
from .limits import LIMITS
from .node_pools import NODE_POOLS
from .strangers import STRANGERS
from .subject import Case, Subject


def a_life_leaves_nothing(subject: Subject) -> None:
    bring_up(subject, subject.node_pool)
    tear_down(subject)
    assert list(subject.leftovers()) == []


CASES: tuple[Case, ...] = (
    *CLUSTERS,
    *NODE_POOLS,
    *CHANGES,
    *STRANGERS,
    *LIMITS,
    a_life_leaves_nothing,
    *FAULTS,
)
