# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is wrong with a request for a cluster: in itself, at its provider, and beside what stands.

Paths are in snake_case, as modules write them; the HTTP API spells its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from ...documents import patterns
from ...documents.places import gcp_region, substrate_places
from ...model.capabilities import CAPABILITIES
from ...model.errors import Problem
from ...model.limits import CLUSTER_NAME, EXPECTED, IDEMPOTENCY_KEY, TENANT, ZONE
from ...model.records import AccountRecord, ClusterRecord
from ...model.states import ClusterMode
from ...model.versions import is_older
from ..node_pools.constraints import shown
from .wanted import WantedCluster

_OF_A_POOL = re.compile(r"bc-[0-9a-hjkmnp-tv-z]{26}", re.ASCII)
"""Names that clusters of pools have (ids.cluster_name)."""

_NEVER = "never changes on a cluster that stands: delete it and create another"

Said = Iterator[tuple[str, str]]
"""(field, why), the field below the cluster's own path."""


def input_problems(wanted: WantedCluster) -> list[Problem]:
    """What is wrong wherever it is to stand."""
    return problems_of(wanted, _input(wanted))


def new_problems(wanted: WantedCluster, account: AccountRecord | None) -> list[Problem]:
    """What a cluster that is not there yet cannot do without, and what its account has no place for.

    Arguments:
        account: None where it is not known.
    """
    needed = (("account", wanted.account), ("location", wanted.location))
    told = [(name, "required for a new cluster") for name, value in needed if value is None]
    if _OF_A_POOL.fullmatch(wanted.name):
        told.append(("name", f"{wanted.name!r} is the kind of name that clusters of pools have: take another"))
    if account is not None and wanted.location is not None:
        substrate = {"cluster": {"create": {"location": wanted.location}}}
        told += [("location", why) for _path, why in substrate_places((), substrate, account.provider, account.config)]
        if wanted.mode == ClusterMode.AUTOPILOT and account.provider == "gcp" and gcp_region(wanted.location):
            told.append(("location", f"expected a region, found {wanted.location}: GKE has autopilot in regions only"))
    return problems_of(wanted, told)


def lacking(wanted: WantedCluster, account: AccountRecord) -> Iterator[str]:
    """What the account's provider cannot do of it: UNSUPPORTED."""
    can = CAPABILITIES[account.provider]
    what = f"cluster {wanted.name!r}"
    if wanted.mode == ClusterMode.AUTOPILOT and not can.autopilot:
        yield f"{what}: {can.title} ({account.provider}, account {account.name}) has no autopilot clusters"
    if wanted.private_nodes and not can.private_nodes:
        yield f"{what}: {can.title} ({account.provider}, account {account.name}) has no private nodes"


def change_problems(wanted: WantedCluster, before: ClusterRecord, account: AccountRecord | None) -> list[Problem]:
    """What can never change on a cluster that stands.

    Arguments:
        account: the one that it stands on.
    """
    fixed: tuple[tuple[str, object, object], ...] = (
        ("account", wanted.account, account.name if account else None),
        ("location", wanted.location, before.location),
        ("mode", wanted.mode, before.mode),
        ("private_nodes", wanted.private_nodes, before.private_nodes),
    )
    told = [(field, _NEVER) for field, asked, stands in fixed if asked is not None and asked != stands]
    told += _lowered(wanted.version, before)
    return problems_of(wanted, told)


def problems_of(wanted: WantedCluster, told: Iterable[tuple[str, str]]) -> list[Problem]:
    """The problems with their whole paths."""
    prefix = f"{wanted.path}." if wanted.path else ""
    return [Problem(path=f"{prefix}{field}", message=why) for field, why in told]


def _input(wanted: WantedCluster) -> Said:
    texts = (
        ("name", wanted.name if wanted.cluster_id is None else None, CLUSTER_NAME, EXPECTED[CLUSTER_NAME]),
        ("account", wanted.account, patterns.NAME, patterns.MEANING[patterns.NAME]),
        ("location", wanted.location, ZONE, EXPECTED[ZONE]),
        ("version", wanted.version, patterns.KUBERNETES_VERSION, patterns.MEANING[patterns.KUBERNETES_VERSION]),
        ("idempotency_key", wanted.idempotency_key, IDEMPOTENCY_KEY, EXPECTED[TENANT]),
    )
    for field, value, pattern, expected in texts:
        if value is not None and not re.fullmatch(pattern, value, re.ASCII):
            yield field, f"expected {expected}, found {shown(value)}"


def _lowered(version: str | None, before: ClusterRecord) -> Said:
    """A version below the one that is wanted already, or that runs. A wish that is recorded may always be repeated."""
    if version is None or version == before.version:
        return
    running = before.outputs.version if before.outputs else None
    for held in (before.version, running):
        if held is not None and is_older(version, held):
            yield "version", f"is never lowered: leave it at {held} or above, or delete the cluster and create another"
            return
