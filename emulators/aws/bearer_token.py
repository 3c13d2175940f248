# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The bearer token with which principals come to an EKS cluster's Kubernetes API, checked as EKS's authenticator does.

`k8s-aws-v1.` and the unpadded URL-safe base64 of a presigned GetCallerIdentity URL whose signed headers bind it to one
cluster. It lives 15 minutes from X-Amz-Date, whatever X-Amz-Expires says (aws-iam-authenticator, pkg/token).
"""

from __future__ import annotations

import base64
import binascii
from datetime import datetime, timedelta
from typing import Final
from urllib.parse import parse_qsl, urlsplit

from . import signature
from .account import Account, Credentials
from .errors import AwsError

PREFIX: Final = "k8s-aws-v1."
CLUSTER_HEADER: Final = "x-k8s-aws-id"
LIFETIME: Final = timedelta(minutes=15)

_MAXIMUM_CHARACTERS: Final = 16 * 1024
"""Longer ones are not looked at; the longest session tokens make tokens of about 3 KiB."""


def verify(token: str, *, cluster: str, account: Account, now: datetime) -> Credentials | None:
    """Whose token it is, or None when it is not good for this cluster now."""
    if not token.startswith(PREFIX) or len(token) > _MAXIMUM_CHARACTERS:
        return None
    text = token.removeprefix(PREFIX)
    try:
        url = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True).decode("ascii")
        parts = urlsplit(url)
        signed = signature.read_query(parts.query)
    except (binascii.Error, UnicodeDecodeError, ValueError, AwsError):
        return None
    query = dict(parse_qsl(parts.query, keep_blank_values=True))
    if (
        parts.scheme not in ("http", "https")
        or parts.path not in ("", "/")
        or query.get("Action") != "GetCallerIdentity"
        or signed.service != "sts"
        or CLUSTER_HEADER not in signed.signed_headers
        or signed.at + LIFETIME <= now
    ):
        return None
    request = signature.Request(
        method="GET",
        path=parts.path,
        query=parts.query,
        headers={"host": parts.netloc, CLUSTER_HEADER: cluster},
        body=b"",
    )
    try:
        return signature.verify(signed, request, account=account, now=now, today=now)
    except AwsError:
        return None
