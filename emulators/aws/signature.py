# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Signature Version 4, as AWS checks it: in the Authorization header of a request, and in a presigned URL.

Written from the published algorithm ("Signature Version 4 signing process", AWS General Reference), not with botocore's
signer, so that it is a check.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final
from urllib.parse import parse_qsl, quote

from .account import Account, Credentials
from .errors import AwsError

ALGORITHM: Final = "AWS4-HMAC-SHA256"
SKEW: Final = timedelta(minutes=15)
"""How far a signature's date may be from the server's."""

_DATE: Final = "%Y%m%dT%H%M%SZ"
_SAFE: Final = "-_.~"


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A request as it came over the wire.

    Attributes:
        path: the path as it was sent, still percent-encoded.
        query: the query string as it was sent.
        headers: names in lower case.
    """

    method: str
    path: str
    query: str
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Signature:
    """What a signed request says of its signature."""

    access_key_id: str
    day: str
    region: str
    service: str
    date: str
    signed_headers: tuple[str, ...]
    value: str
    presigned: bool

    @property
    def at(self) -> datetime:
        """When it was signed."""
        return datetime.strptime(self.date, _DATE).replace(tzinfo=UTC)


def read_header(headers: Mapping[str, str]) -> Signature:
    """Read the Authorization header.

    Raises:
        AwsError: it is missing or makes no sense.
    """
    header = headers.get("authorization", "")
    if not header:
        raise AwsError(403, "MissingAuthenticationTokenException", "Missing Authentication Token")
    algorithm, _space, rest = header.partition(" ")
    parts = dict(part.strip().partition("=")[::2] for part in rest.split(","))
    try:
        if algorithm != ALGORITHM:
            raise ValueError(algorithm)
        return _signature(
            credential=parts["Credential"],
            date=headers["x-amz-date"],
            signed_headers=parts["SignedHeaders"],
            value=parts["Signature"],
            presigned=False,
        )
    except (KeyError, ValueError):
        raise AwsError(400, "IncompleteSignatureException", "Authorization header is incomplete.") from None


def read_query(query: str) -> Signature:
    """Read the signature in the query of a presigned URL.

    Raises:
        AwsError: it is missing or makes no sense.
    """
    fields = dict(parse_qsl(query, keep_blank_values=True))
    try:
        if fields["X-Amz-Algorithm"] != ALGORITHM:
            raise ValueError(fields["X-Amz-Algorithm"])
        return _signature(
            credential=fields["X-Amz-Credential"],
            date=fields["X-Amz-Date"],
            signed_headers=fields["X-Amz-SignedHeaders"],
            value=fields["X-Amz-Signature"],
            presigned=True,
        )
    except (KeyError, ValueError):
        raise AwsError(400, "IncompleteSignature", "The presigned URL is incomplete.") from None


def verify(signature: Signature, request: Request, *, account: Account, now: datetime, today: datetime) -> Credentials:
    """Whose request it is.

    Arguments:
        now: the time against which the signature's date is judged.
        today: the time against which the end of an assumed role's session is judged.

    Raises:
        AwsError: as AWS refuses: unknown key, wrong secret, wrong date, ended session.
    """
    credentials = account.credentials(signature.access_key_id)
    if credentials is None or credentials.session_token != _session_token(signature, request):
        raise AwsError(403, "UnrecognizedClientException", "The security token included in the request is invalid.")
    expected = hmac.new(
        _signing_key(credentials.secret_access_key, signature),
        _string_to_sign(signature, request).encode(),
        hashlib.sha256,
    ).hexdigest()
    if "host" not in signature.signed_headers or not hmac.compare_digest(expected, signature.value):
        raise AwsError(
            403,
            "InvalidSignatureException",
            "The request signature we calculated does not match the signature you provided. "
            "Check your AWS Secret Access Key and signing method.",
        )
    if signature.at < now - SKEW:
        earliest = (now - SKEW).strftime(_DATE)
        text = f"Signature expired: {signature.date} is now earlier than {earliest} ({now.strftime(_DATE)} - 15 min.)"
        raise AwsError(403, "InvalidSignatureException", text)
    if signature.at > now + SKEW:
        latest = (now + SKEW).strftime(_DATE)
        text = f"Signature not yet current: {signature.date} is still later than {latest}"
        raise AwsError(403, "InvalidSignatureException", text)
    if credentials.expires_at is not None and credentials.expires_at <= today:
        raise AwsError(403, "ExpiredTokenException", "The security token included in the request is expired")
    return credentials


def _signature(*, credential: str, date: str, signed_headers: str, value: str, presigned: bool) -> Signature:
    access_key_id, day, region, service, terminator = credential.split("/")
    datetime.strptime(date, _DATE).replace(tzinfo=UTC)
    if terminator != "aws4_request" or not date.startswith(day):
        raise ValueError(credential)
    return Signature(
        access_key_id=access_key_id,
        day=day,
        region=region,
        service=service,
        date=date,
        signed_headers=tuple(signed_headers.split(";")),
        value=value,
        presigned=presigned,
    )


def _session_token(signature: Signature, request: Request) -> str | None:
    if signature.presigned:
        return dict(parse_qsl(request.query)).get("X-Amz-Security-Token")
    return request.headers.get("x-amz-security-token")


def _string_to_sign(signature: Signature, request: Request) -> str:
    fields = parse_qsl(request.query, keep_blank_values=True)
    encoded = sorted(
        (quote(name, safe=_SAFE), quote(value, safe=_SAFE)) for name, value in fields if name != "X-Amz-Signature"
    )
    canonical = "\n".join(
        [
            request.method,
            # Every service but S3 encodes the path as it is sent once more.
            quote(request.path or "/", safe="/" + _SAFE),
            "&".join(f"{name}={value}" for name, value in encoded),
            *(f"{name}:{' '.join(request.headers.get(name, '').split())}" for name in signature.signed_headers),
            "",
            ";".join(signature.signed_headers),
            hashlib.sha256(request.body).hexdigest(),
        ]
    )
    scope = f"{signature.day}/{signature.region}/{signature.service}/aws4_request"
    return "\n".join([ALGORITHM, signature.date, scope, hashlib.sha256(canonical.encode()).hexdigest()])


def _signing_key(secret: str, signature: Signature) -> bytes:
    key = f"AWS4{secret}".encode()
    for part in (signature.day, signature.region, signature.service, "aws4_request"):
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    return key
