# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A subject's kubeconfig: how it is written, and what it says of itself when it is read again. Pure.

What we say of it stands in its `extensions`, which kubectl keeps when it rewrites a file.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from ...model.ids import ClusterId, TenantId
from .credentials import ClusterCredential

_EXTENSION = "better-compute.dev/credentials"


@dataclass(frozen=True, slots=True, kw_only=True)
class Stated:
    """What a kubeconfig of ours says of itself.

    Attributes:
        namespaces: the first is where kubectl works unless it is told otherwise.
        expires_at: when its token ends.
    """

    cluster_id: ClusterId
    tenant_id: TenantId
    subject: str
    account: str
    namespaces: tuple[str, ...]
    expires_at: datetime

    def to_data(self) -> dict[str, Any]:
        """Plain values, for module results. Whose it is the caller knows."""
        return {
            "cluster_id": str(self.cluster_id),
            "subject": self.subject,
            "account": self.account,
            "namespaces": list(self.namespaces),
            "expires_at": self.expires_at.isoformat(),
        }


def kubeconfig(stated: Stated, credential: ClusterCredential, *, cluster_name: str) -> str:
    """The file's text: YAML with the token in it."""
    import yaml

    text: str = yaml.safe_dump(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [
                {
                    "name": cluster_name,
                    "cluster": {
                        "server": credential.endpoint,
                        "certificate-authority-data": base64.b64encode(credential.ca_pem.encode()).decode(),
                    },
                }
            ],
            "users": [{"name": stated.account, "user": {"token": credential.token.reveal()}}],
            "contexts": [
                {
                    "name": cluster_name,
                    "context": {
                        "cluster": cluster_name,
                        "user": stated.account,
                        "namespace": stated.namespaces[0],
                    },
                }
            ],
            "current-context": cluster_name,
            "extensions": [{"name": _EXTENSION, "extension": {"tenant": str(stated.tenant_id), **stated.to_data()}}],
        },
        sort_keys=False,
    )
    return text


def stated_in(text: str) -> Stated | None:
    """What a file says of itself; None when it is none of ours."""
    import yaml

    try:
        config: Any = yaml.safe_load(text)
        said = next(one["extension"] for one in config["extensions"] if one["name"] == _EXTENSION)
        expires_at = datetime.fromisoformat(said["expires_at"])
        if expires_at.tzinfo is None:
            return None
        return Stated(
            cluster_id=ClusterId(str(said["cluster_id"])),
            tenant_id=TenantId(str(said["tenant"])),
            subject=str(said["subject"]),
            account=str(said["account"]),
            namespaces=tuple(str(name) for name in said["namespaces"]),
            expires_at=expires_at,
        )
    except (yaml.YAMLError, LookupError, StopIteration, TypeError, ValueError, RecursionError):
        return None
