# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""All the probes, each named for what it asks."""

from __future__ import annotations

from collections.abc import Callable

from .applying import APPLYING
from .creating import CREATING
from .daemon_sets import DAEMON_SETS
from .deleting import DELETING
from .listing import LISTING
from .merging import MERGING
from .observation import Told
from .subject import ApiSubject
from .tenants import TENANTS
from .tokens import TOKENS

Probe = Callable[[ApiSubject], Told]

PROBES: dict[str, Probe] = {
    probe.__name__: probe
    for probe in (*CREATING, *APPLYING, *DAEMON_SETS, *MERGING, *DELETING, *TOKENS, *LISTING, *TENANTS)
}
