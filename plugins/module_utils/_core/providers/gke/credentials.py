# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where an account's Google credential comes from, and its access tokens. No text made here holds one, or a key."""

from __future__ import annotations

import functools
import json
import os
import threading
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from ...model.errors import PermissionDenied, ProviderError, Unavailable
from ...model.first_import import ONE_IMPORTS
from ...model.secret import Secret
from ..messages import bounded
from .settings import AMBIENT, GkeSettings

_SCOPE = "https://www.googleapis.com/auth/cloud-platform"
"""What GKE and its clusters' APIs ask for; what the credential may do is IAM's business."""

_REFRESH_TIMEOUT_SECONDS = 10
"""Google answers within a second; a pass holds its lease for 60."""

_UNSAID_LIFE = timedelta(minutes=10)
"""Of a token that does not say when it ends. Google's own always do: an hour."""


class Tokens:
    """The access tokens of one credential, each used until shortly before its end. Safe to share between threads."""

    def __init__(self, *, credentials: Any, settings: GkeSettings) -> None:
        """Keep the credential (google-auth's); nothing is asked for yet. Use :meth:`open`."""
        self._credentials = credentials
        self._settings = settings
        self._refreshing = threading.Lock()

    @classmethod
    def open(cls, settings: GkeSettings) -> Tokens:
        """Find the credential.

        Raises:
            PermissionDenied: its source is missing, or no service account's key; the text says what is wrong.
        """
        return cls(credentials=_find(settings.credential), settings=settings)

    def current(self) -> tuple[Secret, timedelta]:
        """A token, and how long it still lives. Asks Google for one when the last one is about to end.

        Raises:
            PermissionDenied: Google refuses the credential.
            Unavailable: Google did not answer.
        """
        with self._refreshing:
            found = self._credentials
            if not found.valid:
                self._refresh()
            life = found.expiry - datetime.now(UTC).replace(tzinfo=None) if found.expiry else _UNSAID_LIFE
            return Secret(found.token), life

    def metadata(self) -> list[tuple[str, str]]:
        """What a call carries to say who makes it.

        Raises:
            PermissionDenied, Unavailable: see current.
        """
        token, _life = self.current()
        project = getattr(self._credentials, "quota_project_id", None)
        return [
            ("authorization", f"Bearer {token.reveal()}"),
            *([("x-goog-user-project", project)] if project else []),
        ]

    def _refresh(self) -> None:
        with ONE_IMPORTS:
            import requests
            from google.auth import exceptions
            from google.auth.transport.requests import Request

        problem: ProviderError
        with requests.Session() as session:
            session.trust_env = not self._settings.is_loopback
            if self._settings.ca_file:
                session.verify = self._settings.ca_file
            try:
                self._credentials.refresh(functools.partial(Request(session), timeout=_REFRESH_TIMEOUT_SECONDS))
            except exceptions.TransportError as error:
                problem = Unavailable(bounded(f"Google gives no access token: {error}"))
            except exceptions.GoogleAuthError as error:
                kind = Unavailable if getattr(error, "retryable", False) else PermissionDenied
                problem = kind(bounded(f"Google gives no access token: {error.args[0] if error.args else error}"))
            else:
                return
        raise problem


def _find(source: str | Mapping[str, str]) -> Any:
    if isinstance(source, str):
        return _ambient() if source == AMBIENT else _of_key(source, "the account's credential")
    if "env" in source:
        name = source["env"]
        text = os.environ.get(name)
        if not text:
            raise PermissionDenied(f"the account's credential is to come from the environment, where {name} is not set")
        return _of_key(text, f"the environment's {name}")
    path = Path(source["file"]).expanduser()
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "cannot be read"
        raise PermissionDenied(f"credentials file {path}: {why}") from None
    return _of_key(text, f"credentials file {path}")


def _ambient() -> Any:
    with ONE_IMPORTS:
        import google.auth
        from google.auth.exceptions import GoogleAuthError

    try:
        found, _project = google.auth.default(scopes=[_SCOPE])
    except GoogleAuthError:
        found = None
    if found is None:
        raise PermissionDenied(
            "no Google credentials found: Google's chain (GOOGLE_APPLICATION_CREDENTIALS, gcloud, instance) has none"
        )
    return found


def _of_key(text: str, what: str) -> Any:
    with ONE_IMPORTS:
        from google.auth.exceptions import GoogleAuthError
        from google.oauth2 import service_account

    read: Any = service_account.Credentials.from_service_account_info
    try:
        return read(json.loads(text), scopes=[_SCOPE])
    except (ValueError, TypeError, AttributeError, GoogleAuthError):
        # Their own texts may quote the key.
        problem = PermissionDenied(f"{what} holds no service account's key (JSON)")
    raise problem
