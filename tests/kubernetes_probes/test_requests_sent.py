# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The list of requests is what the product sends, no more and no less; each is probed; and the guard notices others."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from ansible_collections.better_compute.fleet.plugins.module_utils._core.cluster import objects
from ansible_collections.better_compute.fleet.plugins.module_utils._core.cluster.access import bootstrap_api
from ansible_collections.better_compute.fleet.plugins.module_utils._core.cluster.api import JSON
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import ClusterError
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.ids import PoolId

from .emulated import emulated_subject
from .guard import recording
from .probes import PROBES
from .product_life import bootstrap_of, live_through
from .requests_sent import form_of, pattern, requests_sent
from .subject import METADATA_ONLY, ApiSubject


@pytest.fixture
def subject() -> Iterator[ApiSubject]:
    with emulated_subject() as made:
        yield made


def test_the_list_is_what_the_product_sends_in_a_life(subject: ApiSubject) -> None:
    with recording() as recorded:
        live_through(subject)
    assert recorded.forms == requests_sent()


def test_every_request_of_the_list_is_probed() -> None:
    probed = set()
    for probe in PROBES.values():
        with emulated_subject() as subject:
            probe(subject)
            probed |= {f"{method} {pattern(path)}" for method, path in subject.asked}
    assert {form.request for form in requests_sent()} - probed == set()


def test_a_request_that_is_not_in_the_list_is_noticed(subject: ApiSubject) -> None:
    with recording() as recorded, bootstrap_api(bootstrap_of(subject)) as api:
        surprise = objects.identity("ConfigMap", "a", pool_id=PoolId("pool_x"), namespace="default")
        objects.create(api, surprise | {"immutable": True})
        with pytest.raises(ClusterError):
            objects.create(api, surprise | {"kind": "Secret", "apiVersion": "v1", "surprise": {"deep": 1}})
    assert recorded.unlisted() == [
        "POST /api/v1/namespaces/{namespace}/configmaps: ['immutable']",
        "POST /api/v1/namespaces/{namespace}/secrets: ['surprise.deep']",
    ]
    recorded.forms.clear()


def test_what_a_test_sends_as_a_stranger_is_not_the_products(subject: ApiSubject) -> None:
    with recording() as recorded, bootstrap_api(bootstrap_of(subject)) as api, pytest.raises(ClusterError):
        api.request("GET", "/api/v1/namespaces/default/pods")
    assert recorded.forms == {}


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/api/v1/namespaces", "/api/v1/namespaces"),
        ("/api/v1/namespaces/a", "/api/v1/namespaces/{name}"),
        ("/api/v1/namespaces/a/secrets", "/api/v1/namespaces/{namespace}/secrets"),
        ("/api/v1/namespaces/a/serviceaccounts/b/token", "/api/v1/namespaces/{namespace}/serviceaccounts/{name}/token"),
        ("/apis/apps/v1/namespaces/a/daemonsets/b", "/apis/apps/v1/namespaces/{namespace}/daemonsets/{name}"),
        ("/apis/rbac.authorization.k8s.io/v1/clusterroles/b", "/apis/rbac.authorization.k8s.io/v1/clusterroles/{name}"),
    ],
)
def test_a_path_is_told_without_the_names_of_one_case(path: str, expected: str) -> None:
    assert pattern(path) == expected


def test_a_form_has_no_values_of_one_case() -> None:
    query: dict[str, Any] = {"labelSelector": "k=v", "limit": 500, "continue": "t"}
    form, fields = form_of("GET", "/api/v1/nodes", query=query, body=None, content_type=JSON, accept=METADATA_ONLY)
    assert form.query == ("continue={token}", "labelSelector=k={value}", "limit={number}")
    assert (form.content_type, fields) == (None, frozenset())
    body = {"metadata": {"labels": {"a": "b"}}, "items": [{"x": 1}, {"y": []}], "propagationPolicy": "Foreground"}
    _form, fields = form_of("POST", "/api/v1/namespaces", query=None, body=body, content_type=JSON, accept=JSON)
    assert fields == {"metadata.labels", "items[].x", "items[].y", "propagationPolicy=Foreground"}
