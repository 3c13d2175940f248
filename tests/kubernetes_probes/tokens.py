# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Probes of who may come in: tokens of service accounts and their lives, strangers, and users without rights."""

from __future__ import annotations

import base64
import json
from datetime import datetime
from typing import Any

from .creating import binding
from .observation import Told, told
from .subject import (
    APPLY_PATCH,
    BINDINGS,
    CREATE,
    METADATA_ONLY,
    NAMESPACES,
    NODES,
    ApiSubject,
    Reply,
    at,
    deletion,
    manifest,
)

_SHARED: dict[str, str | int] = {"labelSelector": "pool=none", "limit": 500}


def token_request(seconds: object = 600) -> dict[str, Any]:
    """The body of a TokenRequest."""
    return {
        "apiVersion": "authentication.k8s.io/v1",
        "kind": "TokenRequest",
        "spec": {"expirationSeconds": seconds},
    }


class Robot:
    """A service account `robot` in a namespace of the probe's own."""

    def __init__(self, api: ApiSubject) -> None:
        self.api = api
        self.namespace = api.namespace()
        self.path = at(self.namespace, "serviceaccounts", "robot")
        accounts = at(self.namespace, "serviceaccounts")
        self.live = api.send("POST", accounts, manifest("ServiceAccount", "robot", self.namespace), query=CREATE)

    def bind(self) -> Reply:
        """Give it all rights."""
        return self.api.send("POST", BINDINGS, binding(self.api), query=CREATE)

    def ask(self, body: object) -> Reply:
        """Send a TokenRequest."""
        return self.api.send("POST", f"{self.path}/token", body)

    def token(self) -> str:
        """A token of it."""
        return str(self.ask(token_request()).body["status"]["token"])

    def reads(self, token: str) -> Reply:
        """Read something with a token."""
        return self.api.send("GET", at(self.namespace, "configmaps", "none"), token=token)


def a_token_is_asked_for(api: ApiSubject) -> Told:
    reply = Robot(api).ask(token_request())
    body = reply.body
    life = datetime.fromisoformat(body["status"]["expirationTimestamp"]) - datetime.fromisoformat(
        body["metadata"]["creationTimestamp"]
    )
    # Whom a token is for is the cluster's own address; and nobody keeps the request, whoever owns its fields.
    body["spec"].pop("audiences", None)
    body["metadata"].pop("managedFields", None)
    return {"reply": told(api, reply), "seconds": life.total_seconds()}


def the_life_of_a_token_has_its_bounds(api: ApiSubject) -> Told:
    robot = Robot(api)
    return {str(seconds): told(api, robot.ask(token_request(seconds))) for seconds in (599, 0, -1)}


def a_malformed_token_request_is_refused(api: ApiSubject) -> Told:
    robot = Robot(api)
    return {
        "wrong type": told(api, robot.ask(token_request("600"))),
        "cut off": told(api, robot.ask(b'{"kind": "Tok')),
    }


def there_is_no_token_of_a_missing_account(api: ApiSubject) -> Told:
    namespace = api.namespace()
    return {
        where: told(api, api.send("POST", f"{at(place, 'serviceaccounts', 'none')}/token", token_request()))
        for where, place in (("namespace", namespace), ("no namespace", api.name("nowhere")))
    }


def an_unknown_token_is_nobodys(api: ApiSubject) -> Told:
    robot = Robot(api)
    return {
        "unknown": told(api, robot.reads("unknown")),
        "garbled": told(api, robot.reads(_garbled(robot.token()))),
        "at a list": told(api, api.send("GET", NODES, query=_SHARED, accept=METADATA_ONLY, token="unknown")),
        "at a write": told(
            api, api.send("POST", NAMESPACES, manifest("Namespace", api.name("n")), query=CREATE, token="unknown")
        ),
    }


def an_expired_token_is_nobodys(api: ApiSubject) -> Told:
    robot = Robot(api)
    robot.bind()
    expired = api.keeper.expired_token(robot.namespace, "robot", robot.live.uid)
    return {"expired": told(api, robot.reads(expired))}


def a_token_ends_with_its_account(api: ApiSubject) -> Told:
    robot = Robot(api)
    token = robot.token()
    api.send("DELETE", robot.path, deletion(robot.live.uid))
    accounts = at(robot.namespace, "serviceaccounts")
    api.send("POST", accounts, manifest("ServiceAccount", "robot", robot.namespace), query=CREATE)
    api.keeper.wait_until(lambda: robot.reads(token).code == 401)
    return {"read": told(api, robot.reads(token))}


def a_user_without_rights_learns_nothing(api: ApiSubject) -> Told:
    robot = Robot(api)
    token = robot.token()
    maps = at(robot.namespace, "configmaps")
    sets = at(robot.namespace, "daemonsets")
    body = manifest("ConfigMap", "a", robot.namespace)
    attempts = {
        "what is there": api.send("GET", f"{maps}/kube-root-ca.crt", token=token),
        "what is not": api.send("GET", f"{maps}/none", token=token),
        "a namespace": api.send("GET", f"{NAMESPACES}/{robot.namespace}", token=token),
        "a binding": api.send("GET", f"{BINDINGS}/cluster-admin", token=token),
        "a daemon set": api.send("GET", f"{sets}/bcd", token=token),
        "nodes": api.send("GET", NODES, query=_SHARED, accept=METADATA_ONLY, token=token),
        "accounts": api.send("GET", at(robot.namespace, "serviceaccounts"), token=token),
        "create": api.send("POST", maps, body, query=CREATE, token=token),
        "create namespace": api.send("POST", NAMESPACES, manifest("Namespace", "x"), query=CREATE, token=token),
        "apply": api.send("PATCH", f"{maps}/a", body, query=CREATE, content_type=APPLY_PATCH, token=token),
        "delete": api.send("DELETE", f"{maps}/a", deletion(), token=token),
        "token": api.send("POST", f"{robot.path}/token", token_request(), token=token),
    }
    return {what: told(api, reply) for what, reply in attempts.items()}


def a_binding_to_cluster_admin_gives_all_rights(api: ApiSubject) -> Told:
    robot = Robot(api)
    token = robot.token()
    before = robot.reads(token).code
    live = robot.bind()
    api.keeper.wait_until(lambda: robot.reads(token).code == 404)
    listed = api.send("GET", NODES, query=_SHARED, accept=METADATA_ONLY, token=token).code
    api.send("DELETE", f"{BINDINGS}/{api.name()}", deletion(live.uid))
    api.keeper.wait_until(lambda: robot.reads(token).code == 403)
    return {"before": {"code": before}, "nodes": {"code": listed}, "after": told(api, robot.reads(token))}


def _garbled(token: str) -> str:
    """The same claims under another signature, where it is a signed token."""
    head, _dot, signature = token.rpartition(".")
    if not head:
        return token[::-1]
    other = base64.urlsafe_b64encode(json.dumps(len(signature)).encode()).decode().rstrip("=")
    return f"{head}.{other}{signature[len(other) :]}"


TOKENS = (
    a_token_is_asked_for,
    the_life_of_a_token_has_its_bounds,
    a_malformed_token_request_is_refused,
    there_is_no_token_of_a_missing_account,
    an_unknown_token_is_nobodys,
    an_expired_token_is_nobodys,
    a_token_ends_with_its_account,
    a_user_without_rights_learns_nothing,
    a_binding_to_cluster_admin_gives_all_rights,
)
