# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A cloud's authenticator as a kube-apiserver asks it: a token-review webhook (authentication.k8s.io/v1) over TLS.

It judges nothing itself: the emulated cloud does, with the very function that its emulated Kubernetes APIs ask. Who is
an administrator there comes back in `system:masters`, everybody else without any group that is bound to a role.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ansible_collections.better_compute.fleet.emulators.kubernetes import ClusterUser

from .webhook import Webhook

Judge = Callable[[str], ClusterUser | None]


def _nobody(token: str) -> None:
    del token


class TokenReviews:
    """Serves from construction to `close`.

    Attributes:
        url: where it is to be asked.
        ca_pem: what its certificate is to be checked against.
        judge: who a bearer token is. Nobody, until a test says otherwise. Its answers of "yes" count for some seconds
            at the API (ten, unless told otherwise), so one token must not mean two users within them.
    """

    def __init__(self) -> None:
        """Listen on a free loopback port."""
        self.judge: Judge = _nobody
        self._webhook = Webhook(self.review, name="token-reviews")
        self.url, self.ca_pem = f"{self._webhook.url}/review", self._webhook.ca_pem

    def close(self) -> None:
        """Answer nobody any more."""
        self._webhook.close()

    def review(self, asked: dict[str, Any]) -> dict[str, Any]:
        """The TokenReview with its status."""
        user = self.judge(asked["spec"]["token"])
        status: dict[str, Any] = {"authenticated": user is not None}
        if user is not None:
            status["user"] = {"username": user.name, "groups": ["system:masters"] if user.admin else []}
        return {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "status": status}
