# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The bearer token for an EKS cluster."""

from __future__ import annotations

import base64
from datetime import UTC, datetime, timedelta, timezone
from urllib.parse import parse_qs, urlsplit

import pytest
from botocore import auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import ReadOnlyCredentials

from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.eks.credentials import AccessKey
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.eks.token import (
    bearer_token,
    presigned_identity_url,
)

NOW = datetime(2026, 11, 29, 21, 30, 15, 999, tzinfo=UTC)
LONG_LIVED = AccessKey(key_id="AKIDEXAMPLE", secret="wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY")
TEMPORARY = AccessKey(key_id="ASIDEXAMPLE", secret="another/secret", session_token="FwoG/zXIv+YXdz==")


def url_of(token: str) -> str:
    body = token.removeprefix("k8s-aws-v1.")
    return base64.urlsafe_b64decode(body + "=" * (-len(body) % 4)).decode()


@pytest.mark.parametrize("key", [LONG_LIVED, TEMPORARY], ids=["long-lived", "temporary"])
@pytest.mark.parametrize(
    "sts_url", ["https://sts.us-east-1.amazonaws.com", "http://127.0.0.1:5000", "https://vpce.example:443/"]
)
def test_the_signature_is_the_one_that_botocore_makes_at_that_time(
    key: AccessKey, sts_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(auth, "get_current_datetime", lambda: NOW.replace(tzinfo=None))
    request = AWSRequest(
        method="GET",
        url=f"{sts_url.rstrip('/').removesuffix(':443')}/?Action=GetCallerIdentity&Version=2011-06-15",
        headers={"x-k8s-aws-id": "bc-1"},
    )
    credentials = ReadOnlyCredentials(key.key_id, key.secret, key.session_token)
    auth.SigV4QueryAuth(credentials, "sts", "us-east-1", expires=60).add_auth(request)

    url = presigned_identity_url(cluster="bc-1", region="us-east-1", sts_url=sts_url, key=key, now=NOW)

    assert parse_qs(urlsplit(url).query) == parse_qs(urlsplit(str(request.url)).query)
    assert urlsplit(url)[:3] == urlsplit(str(request.url))[:3]


def test_the_token_is_the_url_in_unpadded_base64() -> None:
    token, _expiry = bearer_token(
        cluster="bc-1", region="us-east-1", sts_url="https://sts.example", key=LONG_LIVED, now=NOW
    )
    assert "=" not in token.reveal()
    assert url_of(token.reveal()).startswith("https://sts.example/?Action=GetCallerIdentity&")


def test_the_token_ends_a_minute_before_its_fifteen_minutes_from_the_signed_time() -> None:
    token, expires_at = bearer_token(
        cluster="bc-1", region="us-east-1", sts_url="https://sts.example", key=LONG_LIVED, now=NOW
    )
    signed = parse_qs(urlsplit(url_of(token.reveal())).query)["X-Amz-Date"]
    assert signed == ["20261129T213015Z"]
    assert expires_at == datetime(2026, 11, 29, 21, 44, 15, tzinfo=UTC)


def test_a_clock_in_another_time_zone_signs_the_same_token() -> None:
    def token(now: datetime) -> str:
        return bearer_token(cluster="bc-1", region="us-east-1", sts_url="https://sts.example", key=LONG_LIVED, now=now)[
            0
        ].reveal()

    assert token(NOW) == token(NOW.astimezone(timezone(timedelta(hours=-7))))


def test_tokens_for_two_clusters_differ() -> None:
    def token(cluster: str) -> str:
        return bearer_token(
            cluster=cluster, region="us-east-1", sts_url="https://sts.example", key=LONG_LIVED, now=NOW
        )[0].reveal()

    assert token("bc-1") != token("bc-2")
