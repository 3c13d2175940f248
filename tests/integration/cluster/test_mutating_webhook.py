# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""bcd behind a mutating webhook that puts a variable into every DaemonSet, on a real API: no pass rolls its pods."""

from __future__ import annotations

import base64
import dataclasses
import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from ansible_collections.better_compute.fleet.plugins.module_utils._core.cluster.agent import apply_agent
from ansible_collections.better_compute.fleet.tests.support.controlplane.webhook import Webhook

from .conftest import LABEL, POOL, SETTINGS, AnyWorld

if TYPE_CHECKING:
    from ansible_collections.better_compute.fleet.tests.support.controlplane.cluster import RealCluster

pytestmark = pytest.mark.controlplane

_ENVIRONMENT = "/spec/template/spec/containers/0/env"
_INJECTED = {"name": "INJECTED", "value": "1"}
_WEBHOOKS = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations"
_PODS = "/api/v1/namespaces/better-compute/pods"


def _inject(review: dict[str, Any]) -> dict[str, Any]:
    """The answer to an AdmissionReview: the variable comes last, where it is not yet."""
    request = review["request"]
    environment = request["object"]["spec"]["template"]["spec"]["containers"][0]["env"]
    added = [] if _INJECTED in environment else [{"op": "add", "path": f"{_ENVIRONMENT}/-", "value": _INJECTED}]
    response: dict[str, Any] = {"uid": request["uid"], "allowed": True, "patchType": "JSONPatch"}
    response["patch"] = base64.b64encode(json.dumps(added).encode()).decode()
    return {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": response}


@contextmanager
def _webhook(real: RealCluster) -> Iterator[None]:
    """Have every write of a DaemonSet in bcd's namespace pass by the webhook."""
    webhook = Webhook(_inject, name="injects")
    client = {"url": f"{webhook.url}/inject", "caBundle": base64.b64encode(webhook.ca_pem.encode()).decode()}
    hook = {
        "name": "injects.example.com",
        "clientConfig": client,
        "rules": [
            {
                "apiGroups": ["apps"],
                "apiVersions": ["v1"],
                "operations": ["CREATE", "UPDATE"],
                "resources": ["daemonsets"],
            }
        ],
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "better-compute"}},
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
    }
    body = {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "MutatingWebhookConfiguration",
        "metadata": {"name": "injects"},
        "webhooks": [hook],
    }
    assert real.admin.send("POST", _WEBHOOKS, body=body).status == 201
    try:
        yield
    finally:
        real.admin.send("DELETE", f"{_WEBHOOKS}/injects")
        webhook.close()


def test_no_pass_rolls_bcd_where_a_webhook_puts_something_into_it(
    real_world: AnyWorld, real_cluster_api: RealCluster
) -> None:
    settings = dataclasses.replace(SETTINGS, runtime_class=None)
    real_cluster_api.make_node("gpu-1", labels={LABEL: POOL})
    api = real_world.open()
    apply_agent(api, pool_id=POOL, agent=settings)
    with _webhook(real_cluster_api):
        newer = dataclasses.replace(settings, image="registry.example/bcd:2")

        def injected() -> bool:
            # The API heeds a new webhook after a moment.
            apply_agent(api, pool_id=POOL, agent=newer)
            apply_agent(api, pool_id=POOL, agent=settings)
            return "INJECTED" in str(real_world.cluster.daemon_sets()[0]["spec"])

        real_cluster_api.wait_until(injected, "the webhook is asked")

        def settled() -> bool:
            listed = real_cluster_api.read(_PODS)
            pods = [] if listed is None else listed["items"]
            status = real_world.cluster.daemon_sets()[0]["status"]
            same = status.get("observedGeneration") == real_world.cluster.daemon_sets()[0]["metadata"]["generation"]
            return same and len(pods) == 1 and "INJECTED" in str(pods[0]["spec"])

        real_cluster_api.wait_until(settled, "the controller made the pod that the template says")
        before = _what_runs(real_world, real_cluster_api)
        for _pass in range(3):
            mark = real_world.engine.log.mark
            assert apply_agent(api, pool_id=POOL, agent=settings)
            assert real_world.writes(after=mark) == ["PATCH daemonsets gpu/better-compute/bcd"] * 2
        assert _what_runs(real_world, real_cluster_api) == before


def _what_runs(world: AnyWorld, real: RealCluster) -> dict[str, Any]:
    (daemon_set,) = world.cluster.daemon_sets()
    pods = real.read(_PODS)
    assert pods is not None
    return {
        "uid": daemon_set["metadata"]["uid"],
        "generation": daemon_set["metadata"]["generation"],
        "spec": daemon_set["spec"],
        "pods": [pod["metadata"]["uid"] for pod in pods["items"]],
    }
