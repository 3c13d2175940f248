# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The API on real TLS, over a store with a pool, its cluster and a flavor; and callers with tokens."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from ansible_collections.better_compute.fleet.daemon.api import ApiServer
from ansible_collections.better_compute.fleet.daemon.web.certificate import Certificate, ensure_certificate
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.ids import PLATFORM_TENANT
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations import api_tokens
from ansible_collections.better_compute.fleet.plugins.module_utils._core.store import Store
from ansible_collections.better_compute.fleet.tests.support.api_client import ApiClient, api_client
from ansible_collections.better_compute.fleet.tests.support.node_pool_desk import Desk, desk_on
from ansible_collections.better_compute.fleet.tests.support.prepared_databases import copy_of
from ansible_collections.better_compute.fleet.tests.support.rows import HandClock

READ, UPDATE, METRICS = "compute:kubernetes:read", "compute:kubernetes:update", "compute:metrics:read"
STATUS = "compute:status:read"

CallerWith = Callable[..., ApiClient]


@pytest.fixture
def store_url(sqlite_template: Path, tmp_path: Path) -> str:
    """One database will do: the operations have their own tests on both."""
    return copy_of(sqlite_template, to=tmp_path / "fleet.db")


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    """The daemon's certificate: one for the session, because making a key takes time."""
    return ensure_certificate(tmp_path_factory.mktemp("gateway"), hosts=["127.0.0.1"])


@pytest.fixture
def desk(store: Store, clock: HandClock) -> Desk:
    """What is recorded, and a session of the daemon's."""
    return desk_on(store, clock)


@pytest.fixture
def api(desk: Desk, certificate: Certificate) -> Iterator[ApiServer]:
    """The API."""
    with ApiServer(
        session=desk.session,
        certificate=certificate,
        host="127.0.0.1",
        port=0,
        metrics=lambda: (b'{"passes": 3}', "application/json"),
    ) as server:
        yield server


@pytest.fixture
def caller_with(api: ApiServer, desk: Desk) -> Iterator[CallerWith]:
    """Makes a caller: `caller_with(READ, tenant="acme", name="ci")`."""
    with ExitStack() as stack:

        def make(*permissions: str, tenant: str = PLATFORM_TENANT, name: str = "ci") -> ApiClient:
            issued = api_tokens.issue(desk.session, name=name, tenant=tenant, permissions=permissions)
            return stack.enter_context(api_client(api.port, issued.token.reveal()))

        yield make


@pytest.fixture
def caller(caller_with: CallerWith) -> ApiClient:
    """A caller of the platform's who may do everything."""
    return caller_with(READ, UPDATE)
