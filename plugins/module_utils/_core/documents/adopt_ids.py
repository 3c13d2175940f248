# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ids of clusters to adopt, as each provider has them (spec: "Adopt a cluster you already run"), in one spelling each.

What is written in another case where case means nothing is the same cluster: two pools must not have it both.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from . import patterns

_GKE_NAME = r"[a-z]([-a-z0-9]{0,38}[a-z0-9])?"
"""GKE: at most 40 characters (its API: `Cluster.name`)."""

_EKS_NAME = r"[0-9A-Za-z][A-Za-z0-9_-]{0,99}"
"""EKS: at most 100 characters, case-sensitive (its API: `CreateCluster`, `name`)."""

_UUID = re.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.ASCII)

_GKE_LOCATION = re.compile(f"{patterns.GCP_REGION}|{patterns.GCP_ZONE}", re.ASCII)
_EKS_LOCATION = re.compile(patterns.AWS_REGION, re.ASCII)

EXPECTED = {
    "gcp": "<location>/<cluster name>, e.g. us-central1/prod or us-central1-a/prod",
    "aws": "<region>/<cluster name>, e.g. us-east-1/prod",
    "digitalocean": "the cluster's UUID, e.g. bd5f5959-5e1e-4205-a714-a914373942af",
}
"""By the document's `provider`: what the id of a cluster to adopt looks like."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AdoptId:
    """The id of a cluster to adopt.

    Attributes:
        id: in the one spelling that is recorded.
        location: where the cluster is; None where the id does not say (DOKS).
    """

    id: str
    location: str | None


def parse_adopt_id(provider: str, text: str) -> AdoptId | None:
    """An id as a document says it; None for what is no id at this provider.

    Arguments:
        provider: the document's: `aws`, `gcp` or `digitalocean`.
    """
    if not text.isascii():
        return None  # lower() makes ASCII letters of some that are none
    if provider == "digitalocean":
        return AdoptId(id=text.lower(), location=None) if _UUID.fullmatch(text.lower()) else None
    location, slash, name = text.partition("/")
    where, called = (_GKE_LOCATION, _GKE_NAME) if provider == "gcp" else (_EKS_LOCATION, _EKS_NAME)
    location = location.lower()
    if not slash or where.fullmatch(location) is None or re.fullmatch(called, name, re.ASCII) is None:
        return None
    return AdoptId(id=f"{location}/{name}", location=location)
