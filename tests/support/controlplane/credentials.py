# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The files that a control plane is started with: certificates, keys, the administrator's token, kubeconfigs."""

from __future__ import annotations

import json
import secrets
from dataclasses import dataclass, field
from pathlib import Path

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from ansible_collections.better_compute.fleet.emulators.kubernetes.certificates import make_server_chain

ADMINISTRATOR = "administrator"


@dataclass(frozen=True, slots=True, kw_only=True)
class Credentials:
    """What a control plane is started with, as files in one folder.

    Attributes:
        ca_pem: what the API's certificate is to be checked against.
        admin_token: a bearer token of `system:masters`, whom nothing is forbidden.
        account_key: what the tokens of service accounts are signed with.
    """

    folder: Path
    ca_pem: str
    admin_token: str = field(repr=False)
    account_key: rsa.RSAPrivateKey = field(repr=False)

    @property
    def serving_chain(self) -> Path:
        """The API's key and certificate, PEM, in one file."""
        return self.folder / "serving.pem"

    @property
    def authority(self) -> Path:
        """The certificate of `ca_pem`."""
        return self.folder / "authority.pem"

    @property
    def account_key_file(self) -> Path:
        """The key of `account_key`, PEM."""
        return self.folder / "service-accounts.pem"

    @property
    def tokens(self) -> Path:
        """The API's static tokens."""
        return self.folder / "tokens.csv"

    def kubeconfig(self, name: str, *, server: str, ca_pem: str, token: str | None = None) -> Path:
        """Write a kubeconfig for one server. Without a token, whoever uses it sends none."""
        authority = self.folder / f"{name}-authority.pem"
        authority.write_text(ca_pem)
        document = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": name, "cluster": {"server": server, "certificate-authority": str(authority)}}],
            "users": [{"name": name, "user": {} if token is None else {"token": token}}],
            "contexts": [{"name": name, "context": {"cluster": name, "user": name}}],
            "current-context": name,
        }
        path = self.folder / f"{name}.kubeconfig"
        path.write_text(json.dumps(document))
        return path


def make_credentials(folder: Path, *, host: str) -> Credentials:
    """Make everything anew in an empty folder that is ours alone.

    Arguments:
        host: the IP address that the API is to be reached at.
    """
    chain, ca_pem = make_server_chain(cluster="real", host=host)
    made = Credentials(
        folder=folder,
        ca_pem=ca_pem,
        admin_token=secrets.token_urlsafe(32),
        account_key=rsa.generate_private_key(public_exponent=65537, key_size=2048),
    )
    made.serving_chain.write_bytes(chain)
    made.authority.write_text(ca_pem)
    made.account_key_file.write_bytes(
        made.account_key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
    )
    made.tokens.write_text(f'{made.admin_token},{ADMINISTRATOR},{ADMINISTRATOR},"system:masters"\n')
    return made
