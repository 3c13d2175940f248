# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One small door to a cluster's Kubernetes API: a request, a dictionary back, or a typed error.

The kubernetes package builds the connection pool (it knows proxies and keep-alive); requests go through that pool
directly: its own `request` has logged reply bodies, which for TokenRequest and Secrets are secrets, and its signature
changed between its versions 34 and 37. Nothing is redirected here, and a write that was perhaps made is never sent
twice: a pass comes again by itself. What got a 401 was not looked at: it is sent again, with another credential, once.
"""

from __future__ import annotations

import ipaddress
import json
import re
import ssl
import threading
import time
from collections.abc import Callable, Mapping
from datetime import datetime
from email.utils import parsedate_to_datetime
from types import TracebackType
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode, urlsplit

from ..model.errors import (
    ClusterAccessDenied,
    ClusterConflict,
    ClusterCredentialRefused,
    ClusterError,
    ClusterInvalid,
    ClusterObjectMissing,
    ClusterUnreachable,
)
from ..model.first_import import ONE_IMPORTS
from ..model.secret import Secret
from ..model.telemetry import telemetry

if TYPE_CHECKING:
    from urllib3 import BaseHTTPResponse, PoolManager

JSON = "application/json"
APPLY_PATCH = "application/apply-patch+yaml"
"""Server-side apply. JSON is YAML, so the body is JSON here too."""

MERGE_PATCH = "application/merge-patch+json"

_CONNECT_SECONDS = 3.0
_READ_SECONDS = 10.0
"""Of silence. Both well below a lease's 60 s, so that a hung API cannot outlive the step that called it."""

_BODY_SECONDS = 20.0
"""For a whole reply: a server that drips one byte at a time never trips the time-out for silence."""

_BODY_BYTES = 64 * 1024 * 1024
"""More than 500 Nodes with everything in them; a reply beyond it is not one of ours."""

_MESSAGE_CHARACTERS = 500
"""How much of the API's own words goes into an error."""

_TOKEN = re.compile(r"[\x21-\x7e]+", re.ASCII)
"""What may stand in the header. Checked here, because http.client's own refusal would print the value."""


Mint = Callable[[], Secret]
"""Gives another credential for the same cluster, or raises a ClusterError."""


class ClusterApi:
    """A cluster's API with one credential. Use as a context manager, or close it; threads may share it.

    Attributes:
        answered_at: when it sent its last answer, by its own clock; None while it has not said.
    """

    def __init__(self, *, endpoint: str, ca_pem: str, token: Secret, mint_again: Mint | None = None) -> None:
        """Prepare the connection; nothing is sent yet.

        Arguments:
            endpoint: `https://host[:port]`.
            ca_pem: the only certificate(s) that the server's is trusted by, PEM; kept in memory.
            token: the bearer token.
            mint_again: used once, when the token is refused with a 401; None: a 401 is the end.

        Raises:
            ClusterError: the endpoint is not https, or the certificate is none.
            ClusterAccessDenied: the token cannot be sent in a header.
        """
        if urlsplit(endpoint).scheme != "https" or not urlsplit(endpoint).hostname:
            raise ClusterError(f"the cluster's endpoint {endpoint!r} is not an https URL")
        self._endpoint = endpoint.rstrip("/")
        self._ca_pem = ca_pem
        self._token = self._sendable(token)
        self._mint_again = mint_again
        self._renewed = False
        self._renewing = threading.Lock()
        self.answered_at: datetime | None = None
        self._pool = _connection_pool(self._endpoint, ca_pem)

    def __repr__(self) -> str:
        return f"ClusterApi({self._endpoint})"

    def __enter__(self) -> ClusterApi:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Give the connections back."""
        self._pool.clear()

    def request(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str | int] | None = None,
        body: Mapping[str, Any] | None = None,
        content_type: str = JSON,
        accept: str = JSON,
    ) -> dict[str, Any]:
        """Send one request and return the reply's object.

        Arguments:
            path: from `/api` or `/apis` on.
            body: sent as JSON, whatever `content_type` says.

        Raises:
            ClusterUnreachable: no answer, a broken or senseless one, 429 or 5xx. A write may have had its effect.
            ClusterCredentialRefused: 401, also with a credential that was minted anew.
            ClusterAccessDenied: 403.
            ClusterObjectMissing: 404.
            ClusterConflict: 409, or 403 because the namespace is being deleted.
            ClusterError: any other refusal.
        """
        headers = {"Accept": accept}
        if body is not None:
            headers["Content-Type"] = content_type
        target = path + (f"?{urlencode(query)}" if query else "")
        content = None if body is None else json.dumps(body).encode()
        what = f"{method} {path} at {self._endpoint}"
        refusal = ""
        for _attempt in range(2):
            token = self._token
            began, told = time.monotonic(), ""
            try:
                return self._send(token, method, target, headers, content, what)
            except ClusterCredentialRefused as error:
                told, refusal = type(error).__name__, str(error)
            except ClusterError as error:
                told = type(error).__name__
                raise
            finally:
                telemetry().cluster_called(method=method, error=told, seconds=time.monotonic() - began)
            if not self._renew(token):
                break
        again = " (and so was the one before it in this pass)" if self._renewed else ""
        raise ClusterCredentialRefused(refusal + again)

    def _renew(self, refused: Secret) -> bool:
        """Have another credential in place of a refused one; False when that was done before, or cannot be."""
        with self._renewing:
            if self._token is not refused:
                return True  # another thread was faster
            mint, self._mint_again = self._mint_again, None
            if mint is None:
                return False
            self._renewed = True
            self._token = self._sendable(mint())
            return True

    def _sendable(self, token: Secret) -> Secret:
        if not _TOKEN.fullmatch(token.reveal()):
            raise ClusterAccessDenied(f"the bearer token for {self._endpoint} is empty or has characters no token has")
        return token

    def _send(
        self, token: Secret, method: str, target: str, headers: Mapping[str, str], body: bytes | None, what: str
    ) -> dict[str, Any]:
        """One request and its reply's object; see :meth:`request`."""
        from urllib3 import Timeout
        from urllib3.exceptions import HTTPError

        try:
            response = self._pool.request(
                method,
                f"{self._endpoint}{target}",
                body=body,
                headers={**headers, "Authorization": f"Bearer {token.reveal()}"},
                timeout=Timeout(connect=_CONNECT_SECONDS, read=_READ_SECONDS),
                retries=False,
                redirect=False,
                preload_content=False,
            )
            content = _read_body(response, what)
            self.answered_at = _date(response.headers.get("Date"))
        except HTTPError as error:
            raise ClusterUnreachable(f"{what}: {type(error).__name__}: {error}") from error
        if not 200 <= response.status < 300:
            raise _error(what, response.status, content)
        reply = _object(content)
        if reply is None:
            raise ClusterUnreachable(f"{what}: {response.status} with a body that is not a JSON object")
        return reply


def require_client() -> None:
    """Check that the kubernetes package is there, before a cluster is needed.

    Raises:
        ModuleNotFoundError: it is not.
    """
    with ONE_IMPORTS:
        from kubernetes.client import rest  # noqa: F401 -- only whether it can be had


def _connection_pool(endpoint: str, ca_pem: str) -> PoolManager:
    """The kubernetes package's connection pool, trusting this one certificate and checking the host's name."""
    with ONE_IMPORTS:
        from kubernetes.client import Configuration
        from kubernetes.client.rest import RESTClientObject

    try:
        context = ssl.create_default_context(cadata=ca_pem)
    except (ssl.SSLError, ValueError) as error:
        raise ClusterError(f"the certificate of {endpoint} cannot be read: {error}") from error
    # Python 3.13 turns this on; EKS's and older kubeadm's certificates lack the extensions that it asks for.
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    configuration = Configuration(host=endpoint)
    if _is_loopback(endpoint):
        configuration.proxy = None
    pool: PoolManager = RESTClientObject(configuration).pool_manager
    pool.connection_pool_kw["ssl_context"] = context
    return pool


def _is_loopback(endpoint: str) -> bool:
    host = urlsplit(endpoint).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _read_body(response: BaseHTTPResponse, what: str) -> bytes:
    """The whole body, within its time and size; the connection is given back only when all of it was read."""
    deadline = time.monotonic() + _BODY_SECONDS
    chunks = []
    size = 0
    try:
        while chunk := response.read1(1 << 16):
            chunks.append(chunk)
            size += len(chunk)
            if size > _BODY_BYTES or time.monotonic() > deadline:
                raise ClusterUnreachable(f"{what}: a reply of over {_BODY_BYTES} bytes or {_BODY_SECONDS:g} s")
    except BaseException:
        response.close()
        raise
    response.release_conn()
    return b"".join(chunks)


def _date(header: str | None) -> datetime | None:
    """The Date of an answer; None where there is none that can be read."""
    try:
        moment = parsedate_to_datetime(header) if header else None
    except ValueError:
        return None
    return moment if moment is not None and moment.tzinfo is not None else None


def _object(content: bytes) -> dict[str, Any] | None:
    try:
        reply = json.loads(content)
    except ValueError:
        return None
    return reply if isinstance(reply, dict) else None


def _error(what: str, status: int, content: bytes) -> ClusterError:
    """The typed error for a refusal, with the reason and message of the API's Status object."""
    details = _object(content) or {}
    reason, message = str(details.get("reason") or ""), str(details.get("message") or "")
    text = f"{what}: {status} {reason}: {message[:_MESSAGE_CHARACTERS]}".rstrip(": ")
    if status == 401:
        return ClusterCredentialRefused(text)
    if status == 403:
        return ClusterConflict(text) if _namespace_is_terminating(details) else ClusterAccessDenied(text)
    if status == 404:
        return ClusterObjectMissing(text)
    if status == 409:
        return ClusterConflict(text)
    if status == 422:
        return ClusterInvalid(text)
    # 429 is the API's priority and fairness, 3xx a proxy in between: neither says anything of the cluster.
    if status < 400 or status == 429 or status >= 500:
        return ClusterUnreachable(text)
    return ClusterError(text)


def _namespace_is_terminating(details: Mapping[str, Any]) -> bool:
    """Whether a 403 is the NamespaceLifecycle admission's: creates are refused while a namespace goes away."""
    inner = details.get("details")
    causes = inner.get("causes") if isinstance(inner, dict) else None
    return isinstance(causes, list) and any(
        isinstance(cause, dict) and cause.get("reason") == "NamespaceTerminating" for cause in causes
    )
