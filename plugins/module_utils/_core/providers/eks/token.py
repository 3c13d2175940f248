# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The bearer token for an EKS cluster's API: a signed, never sent request that asks STS who signed it.

The form is that of `aws eks get-token`: `k8s-aws-v1.` and the unpadded URL-safe base64 of a presigned URL of
STS GetCallerIdentity, whose signed header `x-k8s-aws-id` names the cluster. Signed here by AWS's Signature Version 4
(query parameters) because botocore's signer takes its time from the machine and not from a clock.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING
from urllib.parse import quote, urlencode, urlsplit

from ...model.secret import Secret

if TYPE_CHECKING:
    from .credentials import AccessKey

TOKEN_LIFE = timedelta(minutes=15)
"""From X-Amz-Date, whatever X-Amz-Expires says (the authenticator of EKS)."""

EXPIRY_MARGIN = timedelta(minutes=1)
"""A token is not used in its last minute: clocks differ and calls take time. The same margin as `aws eks get-token`."""

_PRESIGN_SECONDS = 60
"""X-Amz-Expires, which EKS's authenticator wants to be there; the value is that of `aws eks get-token`."""

_ALGORITHM = "AWS4-HMAC-SHA256"
_SIGNED_HEADERS = "host;x-k8s-aws-id"
_PREFIX = "k8s-aws-v1."
_DEFAULT_PORT = {"https": 443, "http": 80}


def bearer_token(*, cluster: str, region: str, sts_url: str, key: AccessKey, now: datetime) -> tuple[Secret, datetime]:
    """A token for the cluster's API, and when to stop using it. Makes no call.

    Arguments:
        cluster: the cluster's name.
        sts_url: the STS endpoint that the token is signed for.
        now: the present, with its time zone. The token lives from there.
    """
    now = now.astimezone(UTC).replace(microsecond=0)
    url = presigned_identity_url(cluster=cluster, region=region, sts_url=sts_url, key=key, now=now)
    token = _PREFIX + base64.urlsafe_b64encode(url.encode()).decode().rstrip("=")
    return Secret(token), now + TOKEN_LIFE - EXPIRY_MARGIN


def presigned_identity_url(*, cluster: str, region: str, sts_url: str, key: AccessKey, now: datetime) -> str:
    """The URL in the token. A credential by itself: whoever has it can show who we are.

    The steps are those of "Create a signed AWS API request" in the IAM user guide.
    """
    endpoint = urlsplit(sts_url)
    host = endpoint.hostname or ""
    if endpoint.port and endpoint.port != _DEFAULT_PORT.get(endpoint.scheme):
        host = f"{host}:{endpoint.port}"
    path = endpoint.path or "/"
    time = now.strftime("%Y%m%dT%H%M%SZ")
    scope = f"{time[:8]}/{region}/sts/aws4_request"
    parameters = {
        "Action": "GetCallerIdentity",
        "Version": "2011-06-15",
        "X-Amz-Algorithm": _ALGORITHM,
        "X-Amz-Credential": f"{key.key_id}/{scope}",
        "X-Amz-Date": time,
        "X-Amz-Expires": str(_PRESIGN_SECONDS),
        "X-Amz-SignedHeaders": _SIGNED_HEADERS,
    }
    if key.session_token:
        parameters["X-Amz-Security-Token"] = key.session_token
    query = urlencode(sorted(parameters.items()), quote_via=quote, safe="-_.~")
    request = "\n".join(
        ("GET", path, query, f"host:{host}", f"x-k8s-aws-id:{cluster}", "", _SIGNED_HEADERS, _sha256(""))
    )
    to_sign = "\n".join((_ALGORITHM, time, scope, _sha256(request)))
    signature = _hmac(_signing_key(key.secret, scope), to_sign).hex()
    return f"{endpoint.scheme}://{host}{path}?{query}&X-Amz-Signature={signature}"


def _signing_key(secret: str, scope: str) -> bytes:
    key = f"AWS4{secret}".encode()
    for part in scope.split("/"):
        key = _hmac(key, part)
    return key


def _hmac(key: bytes, text: str) -> bytes:
    return hmac.new(key, text.encode(), hashlib.sha256).digest()


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
