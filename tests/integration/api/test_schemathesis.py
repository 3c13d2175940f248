# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Schemathesis makes requests out of the API's description, good and bad ones, and judges the answers by it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, settings
from schemathesis.checks import not_a_server_error
from schemathesis.config import GenerationConfig, ProjectConfig, ProjectsConfig, SchemathesisConfig
from schemathesis.generation.meta import TestPhase
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    ignored_auth,
    negative_data_rejection,
    response_schema_conformance,
    status_code_conformance,
    unsupported_method,
)

from ansible_collections.better_compute.fleet.daemon.api import ApiServer
from ansible_collections.better_compute.fleet.daemon.web.certificate import Certificate
from ansible_collections.better_compute.fleet.tests.support.api_client import ApiClient, described

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
    negative_data_rejection,
    unsupported_method,
]


_CONFIG = SchemathesisConfig(
    projects=ProjectsConfig(
        default=ProjectConfig(generation=GenerationConfig(deterministic=True, database="none", max_examples=6))
    )
)

schema = schemathesis.openapi.from_dict(described(), config=_CONFIG)


@pytest.fixture
def connection(certificate: Certificate) -> Iterator[requests.Session]:
    """One connection for all requests of a test, which knows the certificate."""
    with requests.Session() as session:
        session.verify = str(certificate.certificate_file)
        yield session


@schema.parametrize()
@settings(
    deadline=None,
    derandomize=True,
    database=None,
    max_examples=6,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
def test_every_answer_is_one_that_the_description_knows(
    case: schemathesis.Case[Any], api: ApiServer, caller: ApiClient, connection: requests.Session
) -> None:
    # Each case of this check is two more calls on connections of their own: those that are made at random will do.
    at_random = case.meta is not None and case.meta.phase.name == TestPhase.FUZZING
    case.call_and_validate(
        base_url=f"https://127.0.0.1:{api.port}",
        session=connection,
        headers={"Authorization": f"Bearer {caller.token}"},
        verify=connection.verify,
        checks=[*CHECKS, ignored_auth] if at_random else CHECKS,
    )
