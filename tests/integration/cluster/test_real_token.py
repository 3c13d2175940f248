# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The 600 s credential as a real API issues it. Ten minutes are not waited for: a token is signed as of earlier."""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING, Any

import pytest
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding, rsa

from .conftest import AnyWorld

if TYPE_CHECKING:
    from ansible_collections.better_compute.fleet.tests.support.controlplane.cluster import RealCluster
    from ansible_collections.better_compute.fleet.tests.support.controlplane.server import ControlPlane

pytestmark = pytest.mark.controlplane

LEEWAY_SECONDS = 60
"""What a kube-apiserver grants clocks that differ (go-jose's default)."""

KUBE_SYSTEM = "/api/v1/namespaces/kube-system"


def claims_of(token: str) -> dict[str, Any]:
    payload = token.split(".")[1]
    claims: dict[str, Any] = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
    return claims


def issued_earlier(token: str, *, seconds: int, key: rsa.RSAPrivateKey) -> str:
    """The same token as the API would have issued it before, signed with the API's own key."""
    claims = claims_of(token)
    moved = claims | {name: claims[name] - seconds for name in ("iat", "nbf", "exp")}
    payload = base64.urlsafe_b64encode(json.dumps(moved).encode()).rstrip(b"=").decode()
    signed = f"{token.split('.')[0]}.{payload}"
    signature = key.sign(signed.encode(), padding.PKCS1v15(), hashes.SHA256())
    return f"{signed}.{base64.urlsafe_b64encode(signature).rstrip(b'=').decode()}"


def test_the_credential_is_a_service_accounts_and_lives_ten_minutes(real_world: AnyWorld) -> None:
    claims = claims_of(real_world.open()._token.reveal())
    assert claims["sub"] == "system:serviceaccount:bc-access:bc-substrate"
    assert claims["exp"] - claims["iat"] == 600


def test_the_credential_works_for_ten_minutes_and_the_apis_leeway(
    real_world: AnyWorld, real_cluster_api: RealCluster, real_control_plane: ControlPlane
) -> None:
    token = real_world.open()._token.reveal()
    key = real_control_plane.credentials.account_key
    for seconds, status in ((0, 200), (590, 200), (601 + LEEWAY_SECONDS, 401)):
        earlier = issued_earlier(token, seconds=seconds, key=key)
        assert real_cluster_api.admin.as_bearer(earlier).get(KUBE_SYSTEM).status == status, seconds
