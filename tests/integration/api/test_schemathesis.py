# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Schemathesis makes requests out of the API's description, good and bad ones, and judges the answers by it."""

from __future__ import annotations

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, settings
from schemathesis.checks import not_a_server_error
from schemathesis.config import GenerationConfig, ProjectConfig, ProjectsConfig, SchemathesisConfig
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    ignored_auth,
    negative_data_rejection,
    response_schema_conformance,
    status_code_conformance,
    unsupported_method,
)

from ansible_collections.better_compute.fleet.daemon.api.application import Api
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations import api_tokens
from ansible_collections.better_compute.fleet.tests.support.node_pool_desk import Desk

from .conftest import READ, UPDATE

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
    negative_data_rejection,
    ignored_auth,
    unsupported_method,
]


@pytest.fixture
def api_schema(desk: Desk) -> object:
    """The description as the API serves it, with the API behind it."""
    generation = GenerationConfig(deterministic=True, database="none")
    config = SchemathesisConfig(projects=ProjectsConfig(default=ProjectConfig(generation=generation)))
    return schemathesis.openapi.from_asgi("/api/openapi.json", Api(session=desk.session).application(), config=config)


@pytest.fixture
def token(desk: Desk) -> str:
    """Of a caller who may do everything."""
    issued = api_tokens.issue(desk.session, name="any", tenant="platform", permissions=[READ, UPDATE])
    return issued.token.reveal()


schema = schemathesis.pytest.from_fixture("api_schema")


@schema.parametrize()
@settings(
    max_examples=15,
    deadline=None,
    derandomize=True,
    database=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
def test_every_answer_is_one_that_the_description_knows(case: schemathesis.Case, token: str) -> None:
    case.call_and_validate(headers={"Authorization": f"Bearer {token}"}, checks=CHECKS)
