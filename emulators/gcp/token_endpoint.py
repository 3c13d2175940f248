# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where Google's libraries get access tokens for a service account's key: the JWT bearer grant (RFC 7523), on HTTP."""

from __future__ import annotations

import base64
import json
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, Final
from urllib.parse import parse_qs

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa

from .project import OPERATOR, PROJECT_ID, Tokens

_GRANT: Final = "urn:ietf:params:oauth:grant-type:jwt-bearer"
_AUDIENCE: Final = "https://oauth2.googleapis.com/token"
"""What google-auth signs for, whatever the key's token_uri says."""

_LIFE_SECONDS: Final = 3600
_POLL_SECONDS: Final = 0.02
"""How soon the server notices that it is to stop."""


class TokenEndpoint:
    """Serves from construction to `close`. It knows one key, the operator's.

    Attributes:
        url: the key's `token_uri`.
    """

    def __init__(self, tokens: Tokens) -> None:
        """Listen on a free loopback port. Arguments: tokens: issues what is given out."""
        self._tokens = tokens
        self._key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Handler, self))
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}/token"
        serve = partial(self._server.serve_forever, poll_interval=_POLL_SECONDS)
        self._thread = Thread(target=serve, name="emulated-google-tokens", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Answer nobody any more."""
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def key(self) -> dict[str, str]:
        """The operator's key, as Google Cloud's console hands one out (JSON). Good for nothing but this endpoint."""
        pem = self._key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        return {
            "type": "service_account",
            "project_id": PROJECT_ID,
            "private_key_id": "1",
            "private_key": pem.decode(),
            "client_email": OPERATOR,
            "client_id": "1",
            "token_uri": self.url,
        }

    def answer(self, body: str) -> tuple[int, dict[str, Any]]:
        """The HTTP status and the JSON of the answer to a form."""
        form = parse_qs(body)
        if form.get("grant_type") != [_GRANT]:
            return 400, {"error": "unsupported_grant_type", "error_description": "Invalid grant type."}
        if not self._is_signed(form.get("assertion", [""])[0]):
            return 400, {"error": "invalid_grant", "error_description": "Invalid JWT Signature."}
        token = self._tokens.issue(OPERATOR)
        return 200, {"access_token": token, "expires_in": _LIFE_SECONDS, "token_type": "Bearer"}

    def _is_signed(self, assertion: str) -> bool:
        signed, _dot, signature = assertion.rpartition(".")
        try:
            self._key.public_key().verify(_decoded(signature), signed.encode(), padding.PKCS1v15(), hashes.SHA256())
            claims = json.loads(_decoded(signed.partition(".")[2]))
        except (InvalidSignature, ValueError):
            return False
        return (claims.get("iss"), claims.get("aud")) == (OPERATOR, _AUDIENCE)


class _Handler(BaseHTTPRequestHandler):
    def __init__(self, endpoint: TokenEndpoint, *args: Any) -> None:
        self._endpoint = endpoint
        super().__init__(*args)

    def do_POST(self) -> None:
        """Answer a form."""
        status, document = self._endpoint.answer(self.rfile.read(int(self.headers["Content-Length"])).decode())
        body = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the server's name
        """Say nothing."""


def _decoded(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
