# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Flavors that a document declares alike for several providers, and that come to other totals there.

`nodes` counts per zone at EKS and GKE and is the total at DOKS (spec: provider differences).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..model.capabilities import CAPABILITIES
from ..model.declared import FleetConfig
from .changes import FlavorSize
from .naming import Declared, key, titled


def warnings(config: FleetConfig, declared: Declared, sizes: Sequence[FlavorSize]) -> Iterator[str]:
    """One for each name and number of nodes whose known totals differ between providers; it names a pool for each.

    Arguments:
        sizes: of the document's flavors. Those whose total is not known are warned of elsewhere (sizes.warnings).
    """
    providers = {
        titled(key(pool)): declared.account_of(pool, pool.substrate).provider for pool in config.pools if pool.substrate
    }
    alike: dict[tuple[str, int], dict[tuple[str, int], FlavorSize]] = {}
    for size in sizes:
        if size.total is not None:
            found = alike.setdefault((size.flavor, size.nodes), {})
            found.setdefault((providers[size.pool], size.total), size)
    for (flavor, nodes), found in alike.items():
        if len({provider for provider, _total in found}) > 1 and len({total for _provider, total in found}) > 1:
            totals = ", ".join(
                f"{total} at {CAPABILITIES[provider].title} (pool {size.pool})"
                for (provider, total), size in found.items()
            )
            yield (
                f"flavor {flavor}: nodes {nodes} comes to {totals}. It counts per zone at EKS and GKE: give the flavor "
                "one zone there to have as many everywhere"
            )
