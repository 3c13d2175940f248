# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""pydo's client for one account: time-outs, endpoint and certificates in one place; and what the driver calls of it."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlsplit

from ...model.errors import InvalidRequest
from ...model.first_import import ONE_IMPORTS
from .credentials import read_token
from .settings import DoksSettings

CONNECT_TIMEOUT_SECONDS = 3
"""An API that takes longer to accept a connection is down; the pass comes again."""

READ_TIMEOUT_SECONDS = 10
"""With the connect time-out well inside a 60 s lease."""

Body = Mapping[str, Any]


class Kubernetes(Protocol):
    """What we call of pydo's KubernetesOperations. Replies are JSON as it came, 404s too where pydo does not raise."""

    def list_clusters(self, *, per_page: int, page: int) -> Any:
        """GET /v2/kubernetes/clusters."""

    def create_cluster(self, body: Body) -> Any:
        """POST /v2/kubernetes/clusters."""

    def get_cluster(self, cluster_id: str) -> Any:
        """GET …/clusters/{id}."""

    def delete_cluster(self, cluster_id: str) -> Any:
        """DELETE …/clusters/{id}."""

    def get_credentials(self, cluster_id: str, *, expiry_seconds: int) -> Any:
        """GET …/clusters/{id}/credentials."""

    def get_available_upgrades(self, cluster_id: str) -> Any:
        """GET …/clusters/{id}/upgrades."""

    def upgrade_cluster(self, cluster_id: str, body: Body) -> Any:
        """POST …/clusters/{id}/upgrade."""

    def add_node_pool(self, cluster_id: str, body: Body) -> Any:
        """POST …/clusters/{id}/node_pools."""

    def update_node_pool(self, cluster_id: str, node_pool_id: str, body: Body) -> Any:
        """PUT …/node_pools/{id}."""

    def delete_node_pool(self, cluster_id: str, node_pool_id: str) -> Any:
        """DELETE …/node_pools/{id}."""

    def list_options(self) -> Any:
        """GET /v2/kubernetes/options."""


class Droplets(Protocol):
    """What we call of pydo's DropletsOperations."""

    def list(self, *, per_page: int, page: int, tag_name: str | None = None, type: str | None = None) -> Any:  # noqa: A002 -- pydo's name
        """GET /v2/droplets."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Api:
    """The parts of DigitalOcean's API that the driver calls. Safe to share between threads."""

    kubernetes: Kubernetes
    droplets: Droplets


def open_api(settings: DoksSettings) -> Api:
    """Read the token and get ready. Makes no call.

    Raises:
        PermissionDenied: the credential's source is missing or empty.
        InvalidRequest: the CA file does not exist, or the endpoint is not https: pydo sends no token to such a one.
    """
    if settings.ca_file and not Path(settings.ca_file).is_file():
        raise InvalidRequest(f"the account's caFile {settings.ca_file} does not exist")
    if settings.endpoint_url and urlsplit(settings.endpoint_url).scheme != "https":
        raise InvalidRequest(f"the account's endpointUrl {settings.endpoint_url} is not https: no token is sent there")
    token = read_token(settings.credential)
    with ONE_IMPORTS:
        import pydo

    client = pydo.Client(
        token=token.reveal(),
        connection_timeout=CONNECT_TIMEOUT_SECONDS,
        read_timeout=READ_TIMEOUT_SECONDS,
        connection_verify=settings.ca_file or True,
        # Calls retries throttling within a budget; retries under it would make that budget a lie, and a create two.
        retry_total=0,
        # The API redirects nowhere, and the token is for nobody else.
        permit_redirects=False,
        # Proxies and CA bundles of the environment. A proxy cannot reach this machine's own loopback addresses.
        use_env_settings=not _is_loopback(settings.endpoint_url),
        **({"endpoint": settings.endpoint_url.rstrip("/")} if settings.endpoint_url else {}),
    )
    return Api(kubernetes=client.kubernetes, droplets=client.droplets)


def _is_loopback(url: str | None) -> bool:
    host = urlsplit(url).hostname if url else None
    if host is None:
        return False
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
