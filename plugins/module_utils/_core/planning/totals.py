# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where one document comes to other totals at another provider.

`nodes` counts per zone at EKS and GKE and is the total at DOKS (spec: provider differences).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..model.capabilities import CAPABILITIES
from ..model.declared import FleetConfig
from .changes import EFFECTIVE, Change, FlavorSize, Resource
from .naming import Declared, key, titled

_NAMED_FLAVORS = 5
"""How many flavors a warning names: a fleet may have thousands, and these show what is meant."""

_Alike = dict[tuple[str, int], FlavorSize]
"""Flavors of one name and number of nodes: by provider and total the first that comes to it."""


def warnings(
    config: FleetConfig, declared: Declared, sizes: Sequence[FlavorSize], changes: Sequence[Change]
) -> Iterator[str]:
    """What is worth knowing before a flavor is made or resized; flavors that stand as declared are not told again.

    One for each name and number of nodes that stands at several providers with other totals; and one for the changed
    flavors that would come to another total elsewhere.

    Arguments:
        sizes: of the document's flavors. Those whose total is not known are warned of elsewhere (sizes.warnings).
        changes: of the plan.
    """
    differing = _differing(config, declared, sizes)
    for (flavor, nodes), found in differing.items():
        totals = ", ".join(
            f"{total} at {CAPABILITIES[provider].title} (pool {size.pool})" for (provider, total), size in found.items()
        )
        yield (
            f"flavor {flavor}: nodes {nodes} comes to {totals}. It counts per zone at EKS and GKE: give the flavor "
            "one zone there to have as many everywhere"
        )
    changed = {
        change.title
        for change in changes
        if change.resource == Resource.NODE_POOL and change.kind in EFFECTIVE and not change.drifted
    }
    elsewhere = [
        f"{title} comes to {size.total} here and to {size.nodes} there"
        for size in sizes
        if size.total not in (None, size.nodes) and (size.flavor, size.nodes) not in differing
        for title in (f"{size.pool}/{size.flavor}",)
        if title in changed
    ]
    if elsewhere:
        more = len(elsewhere) - _NAMED_FLAVORS
        yield (
            f"nodes counts per zone at EKS and GKE, and is the total at DOKS: {', '.join(elsewhere[:_NAMED_FLAVORS])}"
            f"{f', and {more} more flavors do likewise' if more > 0 else ''}. Give a flavor one zone to have as many "
            "at every provider"
        )


def _differing(config: FleetConfig, declared: Declared, sizes: Sequence[FlavorSize]) -> dict[tuple[str, int], _Alike]:
    providers = {
        titled(key(pool)): declared.account_of(pool, pool.substrate).provider for pool in config.pools if pool.substrate
    }
    alike: dict[tuple[str, int], _Alike] = {}
    for size in sizes:
        if size.total is not None:
            found = alike.setdefault((size.flavor, size.nodes), {})
            found.setdefault((providers[size.pool], size.total), size)
    return {
        flavor: found
        for flavor, found in alike.items()
        if len({provider for provider, _total in found}) > 1 and len({total for _provider, total in found}) > 1
    }
