# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""EKS bearer tokens as AWS's own tools make them, for tests."""

from __future__ import annotations

import base64

import boto3
from botocore.signers import RequestSigner

from ansible_collections.better_compute.fleet.emulators.aws import Credentials


def bearer_token(
    credentials: Credentials, *, cluster: str = "one", url: str = "https://sts.us-east-1.amazonaws.com"
) -> str:
    """The bearer token as `aws eks get-token` makes it, signed by botocore."""
    session = boto3.Session(
        aws_access_key_id=credentials.access_key_id,
        aws_secret_access_key=credentials.secret_access_key,
        aws_session_token=credentials.session_token,
        region_name="us-east-1",
    )
    service = session.client("sts", endpoint_url=url).meta.service_model.service_id
    keys = session.get_credentials()
    assert keys is not None
    signer = RequestSigner(service, "us-east-1", "sts", "v4", keys, session.events)
    signed = signer.generate_presigned_url(
        {
            "method": "GET",
            "url": f"{url}/?Action=GetCallerIdentity&Version=2011-06-15",
            "body": {},
            "headers": {"x-k8s-aws-id": cluster},
            "context": {},
        },
        region_name="us-east-1",
        expires_in=60,
        operation_name="",
    )
    return "k8s-aws-v1." + base64.urlsafe_b64encode(signed.encode()).decode().rstrip("=")
