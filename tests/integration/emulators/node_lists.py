# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The Nodes of an emulated cluster, asked for over the wire with a bearer token."""

from __future__ import annotations

import json
import ssl
from urllib.error import HTTPError
from urllib.request import HTTPSHandler, ProxyHandler, Request, build_opener


def list_nodes(url: str, *, ca_pem: str, token: str) -> tuple[int, list[str]]:
    """The status of a list of the Nodes that are labelled mine=yes, and their names."""
    https = HTTPSHandler(context=ssl.create_default_context(cadata=ca_pem))
    metadata_only = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
    request = Request(
        f"{url}/api/v1/nodes?labelSelector=mine%3Dyes&limit=500",
        headers={"Authorization": f"Bearer {token}", "Accept": metadata_only},
    )
    try:
        with build_opener(ProxyHandler({}), https).open(request, timeout=30) as response:
            # A list of nothing is null.
            return response.status, [item["metadata"]["name"] for item in json.load(response)["items"] or []]
    except HTTPError as error:
        with error:
            return error.code, []
