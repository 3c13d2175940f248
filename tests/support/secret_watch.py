# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Collects every secret that comes to be in an emulated world, and looks for them where none may be."""

from __future__ import annotations

import base64
import json
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

import boto3
import pytest

from ansible_collections.better_compute.fleet.emulators.aws.account import REGION, Credentials
from ansible_collections.better_compute.fleet.emulators.engine import Call, Hook
from ansible_collections.better_compute.fleet.emulators.kubernetes.access import AccessControl, IssuedToken
from ansible_collections.better_compute.fleet.emulators.world import World
from ansible_collections.better_compute.fleet.plugins.module_utils._core.cluster import names

KEY: Final = "AWS secret key"
SESSION: Final = "AWS session token"
BEARER: Final = "presigned bearer token"
ACCESS: Final = "TokenRequest token"
JOIN: Final = "join token"
IDENTITY: Final = "node identity"
PASSWORD: Final = "database password"
API: Final = "token of the HTTP API"

_BEARER_PREFIX: Final = "k8s-aws-v1."
_OPERATOR_ROLE: Final = "arn:aws:iam::111111111111:role/fleet-operator"
_IDENTITY_FILES: Final = ("identity.json", "joining.json")


class SecretWatch:
    """Watches one world from its beginning.

    Attributes:
        secrets: by kind, in every spelling in which they travel.
        unsafe_files: files on machines that hold an identity and can be read by others.
    """

    def __init__(self, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
        """Begin to watch."""
        self.secrets: defaultdict[str, set[str]] = defaultdict(set)
        self.unsafe_files: set[str] = set()
        self._world = world
        self._watch_bearer_tokens(monkeypatch)
        self._watch_token_requests(monkeypatch)
        world.engine.faults.add("kubernetes", "*secrets", Hook(on_after=self._note_join_token), times=None)

    def role_key(self) -> Credentials:
        """A temporary key of an assumed role, which has a session token; both are watched."""
        operator = self._world.aws.operator
        client: Any = boto3.client(
            "sts",
            region_name=REGION,
            endpoint_url=self._world.aws.url,
            aws_access_key_id=operator.access_key_id,
            aws_secret_access_key=operator.secret_access_key,
        )
        answer = client.assume_role(RoleArn=_OPERATOR_ROLE, RoleSessionName="canary")["Credentials"]
        key = self._world.aws.account.credentials(answer["AccessKeyId"])
        assert key is not None
        assert key.session_token is not None
        self.note(KEY, key.secret_access_key, operator.secret_access_key)
        self.note(SESSION, key.session_token)
        return key

    def note(self, kind: str, *values: str) -> None:
        """One more secret, in each spelling that is given."""
        self.secrets[kind].update(values)

    def look_at_machines(self) -> None:
        """Note the identities of the machines that run, and whether anybody else could read them."""
        for path in self._world.machines.folder.rglob("*"):
            if path.name in _IDENTITY_FILES:
                try:
                    self.note(IDENTITY, json.loads(path.read_bytes())["identity"])
                    if path.stat().st_mode & 0o077:
                        self.unsafe_files.add(str(path))
                except FileNotFoundError:
                    continue

    def leaks(self, text: str | bytes) -> set[str]:
        """The kinds of the secrets that are in a text."""
        data = text.encode(errors="surrogateescape") if isinstance(text, str) else text
        return {kind for kind, values in self.secrets.items() if any(value.encode() in data for value in values)}

    def leaking_files(self, folder: Path, *, allowed: Iterable[Path] = ()) -> dict[str, set[str]]:
        """The files below a folder that hold secrets, with the kinds."""
        skipped = set(allowed)
        found = {}
        for path in sorted(folder.rglob("*")):
            if path.is_file() and path not in skipped and (kinds := self.leaks(path.read_bytes())):
                found[str(path.relative_to(folder))] = kinds
        return found

    def leaking_machine_files(self) -> dict[str, set[str]]:
        """The same for the machines' folders, but for bcd's identity and what the kubelet mounts from Secrets."""
        folder = self._world.machines.folder
        allowed = [
            path for path in folder.rglob("*") if path.name in _IDENTITY_FILES or path.parent.parent.name == "volumes"
        ]
        return self.leaking_files(folder, allowed=allowed)

    def _watch_bearer_tokens(self, monkeypatch: pytest.MonkeyPatch) -> None:
        aws = self._world.aws
        authenticate = aws.authenticate

        def watched(token: str, cluster: str) -> Credentials | None:
            if token.startswith(_BEARER_PREFIX):
                self._note_bearer_token(token)
            return authenticate(token, cluster)

        monkeypatch.setattr(aws, "authenticate", watched)

    def _note_bearer_token(self, token: str) -> None:
        encoded = token.removeprefix(_BEARER_PREFIX)
        url = base64.urlsafe_b64decode(encoded + "=" * (-len(encoded) % 4)).decode()
        self.note(BEARER, encoded, url, *parse_qs(urlsplit(url).query)["X-Amz-Signature"])

    def _watch_token_requests(self, monkeypatch: pytest.MonkeyPatch) -> None:
        issue = AccessControl.issue

        def watched(control: AccessControl, namespace: str, name: str, *, seconds: int) -> IssuedToken:
            issued = issue(control, namespace, name, seconds=seconds)
            self.note(ACCESS, issued.token)
            return issued

        monkeypatch.setattr(AccessControl, "issue", watched)

    def _note_join_token(self, call: Call) -> None:
        cluster = self._world.apis.cluster(call.target.partition("/")[0])
        secret = cluster.read("Secret", names.JOIN_SECRET, names.AGENT_NAMESPACE) if cluster is not None else None
        for encoded in ((secret or {}).get("data") or {}).values():
            self.note(JOIN, encoded, base64.b64decode(encoded).decode())
