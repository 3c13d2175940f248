# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ids: a prefix that names the kind and a lower-case ULID, and the deterministic names that are made from them.

The alphabet is Crockford's base32 in lower case (no i, l, o, u), as the API's patterns ask:
``^kcl_[0-9a-hjkmnp-tv-z]{26,52}$``.
"""

from __future__ import annotations

import re
import secrets
from datetime import datetime
from typing import NewType

TenantId = NewType("TenantId", str)
SiteId = NewType("SiteId", str)
AccountId = NewType("AccountId", str)
PoolId = NewType("PoolId", str)
ClusterId = NewType("ClusterId", str)
NodePoolId = NewType("NodePoolId", str)
NodeId = NewType("NodeId", str)
ReservationId = NewType("ReservationId", str)
TokenId = NewType("TokenId", str)
ApiTokenId = NewType("ApiTokenId", str)
EventId = NewType("EventId", str)

PLATFORM_TENANT = TenantId("platform")
"""Owner of whatever a document gives no tenantId."""

TENANT_PATTERN = re.compile(r"[A-Za-z0-9._:-]{1,128}", re.ASCII)
"""A tenant's name, as the spec's API constrains it. Use with ``fullmatch``."""

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
_ULID_CHARACTERS = 26
_RANDOM_BITS = 80
_ID_PATTERN = re.compile(r"(site|acct|pool|kcl|knp|node|rsv|tok|atk|evt)_[0-9a-hjkmnp-tv-z]{26,52}", re.ASCII)

_SHORT_CHARACTERS = 6
"""How much of a pool's id marks our node pools on an adopted cluster: `bc-<last 6>-<flavor>` (spec)."""


def new_ulid(now: datetime) -> str:
    """A fresh ULID in lower case: 48 bits of milliseconds, 80 random bits.

    Arguments:
        now: the present, with a time zone; only orders ids, so a wrong clock does no harm.
    """
    value = (int(now.timestamp() * 1000) << _RANDOM_BITS) | secrets.randbits(_RANDOM_BITS)
    digits = []
    for _character in range(_ULID_CHARACTERS):
        value, digit = divmod(value, 32)
        digits.append(_ALPHABET[digit])
    return "".join(reversed(digits))


def new_site_id(now: datetime) -> SiteId:
    """A fresh `site_…` id."""
    return SiteId(f"site_{new_ulid(now)}")


def new_account_id(now: datetime) -> AccountId:
    """A fresh `acct_…` id."""
    return AccountId(f"acct_{new_ulid(now)}")


def new_pool_id(now: datetime) -> PoolId:
    """A fresh `pool_…` id."""
    return PoolId(f"pool_{new_ulid(now)}")


def new_cluster_id(now: datetime) -> ClusterId:
    """A fresh `kcl_…` id."""
    return ClusterId(f"kcl_{new_ulid(now)}")


def new_node_pool_id(now: datetime) -> NodePoolId:
    """A fresh `knp_…` id."""
    return NodePoolId(f"knp_{new_ulid(now)}")


def new_node_id(now: datetime) -> NodeId:
    """A fresh `node_…` id."""
    return NodeId(f"node_{new_ulid(now)}")


def new_reservation_id(now: datetime) -> ReservationId:
    """A fresh `rsv_…` id."""
    return ReservationId(f"rsv_{new_ulid(now)}")


def new_token_id(now: datetime) -> TokenId:
    """A fresh `tok_…` id: names a join token's row, and is no part of the token itself."""
    return TokenId(f"tok_{new_ulid(now)}")


def new_api_token_id(now: datetime) -> ApiTokenId:
    """A fresh `atk_…` id: names an API token's row, and is no part of the token itself."""
    return ApiTokenId(f"atk_{new_ulid(now)}")


def new_event_id(now: datetime) -> EventId:
    """A fresh `evt_…` id."""
    return EventId(f"evt_{new_ulid(now)}")


def is_id(text: str) -> bool:
    """Whether the whole text is an id of a known kind."""
    return _ID_PATTERN.fullmatch(text) is not None


def is_cluster_id(text: str) -> bool:
    """Whether the whole text is a cluster's id."""
    return text.startswith("kcl_") and is_id(text)


def cluster_name(pool_id: PoolId) -> str:
    """The provider-side name of the cluster made for a pool: `bc-` and the pool's ULID, 29 characters.

    Injective (the whole ULID is in it) and legal at EKS (100 characters), GKE and DOKS (40, lower case, letter first).
    """
    return f"bc-{pool_id.removeprefix('pool_')}"


def adopted_node_pool_name(pool_id: PoolId, flavor: str) -> str:
    """The provider-side name of a flavor's node pool on an adopted cluster: `bc-<last 6 of the pool id>-<flavor>`."""
    return f"bc-{pool_id[-_SHORT_CHARACTERS:]}-{flavor}"


def flavor_node_pool_name(pool_id: PoolId, flavor: str, *, adopted: bool) -> str:
    """The provider-side name of a flavor's node pool: the flavor's own, but on an adopted cluster."""
    return adopted_node_pool_name(pool_id, flavor) if adopted else flavor
