# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Probes of bcd's DaemonSet, exactly as the product builds it: what is stored, how drift goes, what is refused."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from ansible_collections.better_compute.fleet.plugins.module_utils._core.cluster.manifests import agent_manifests
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.agent import AgentSettings
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.ids import PoolId

from .observation import Told, stored, told
from .subject import APPLY, APPLY_PATCH, CREATE, ApiSubject, Reply, at, exactly

_AGENT = AgentSettings(
    image="registry.example/bcd:1.0", gateway_url="https://gateway.example:7443", pins=("cGlu",), runtime_class="nvidia"
)


class DaemonSet:
    """The product's DaemonSet `bcd` in a namespace of the probe's own."""

    def __init__(
        self,
        api: ApiSubject,
        *,
        manager: str = "better-compute",
        but: Callable[[dict[str, Any]], None] = lambda _manifest: None,
    ) -> None:
        """Arguments: but: changes the manifest before it is made."""
        self.api = api
        self.namespace = api.namespace()
        self.path = at(self.namespace, "daemonsets", "bcd")
        self.manifest = product_manifest(self.namespace)
        but(self.manifest)
        sets = at(self.namespace, "daemonsets")
        self.live = api.send("POST", sets, self.manifest, query=CREATE | {"fieldManager": manager})

    def changed(self, *path: str | int, to: Any) -> dict[str, Any]:
        """A copy of the manifest with another value there; None takes the key out."""
        body = copy.deepcopy(self.manifest)
        place: Any = body
        for step in path[:-1]:
            place = place[step]
        if to is None:
            del place[path[-1]]
        else:
            place[path[-1]] = to
        return body

    def apply(self, body: dict[str, Any], *, manager: str = "better-compute") -> Reply:
        """Apply onto the object as it stands; a controller may write its status in between."""
        reply: Reply | None = None

        def applied() -> bool:
            nonlocal reply
            live = self.api.send("GET", self.path)
            sent = body | {"metadata": body["metadata"] | exactly(live)}
            query = APPLY | {"fieldManager": manager}
            reply = self.api.send("PATCH", self.path, sent, query=query, content_type=APPLY_PATCH)
            return not (reply.code == 409 and "has been modified" in reply.body["message"])

        self.api.keeper.wait_until(applied)
        assert reply is not None
        return reply


def product_manifest(namespace: str) -> dict[str, Any]:
    """bcd's DaemonSet as the product makes it, in another namespace."""
    manifests = agent_manifests(pool_id=PoolId("pool_01k00000000000000000000000"), agent=_AGENT)
    (daemon_set,) = (one for one in manifests if one["kind"] == "DaemonSet")
    return daemon_set | {"metadata": daemon_set["metadata"] | {"namespace": namespace}}


def a_daemon_set_is_created(api: ApiSubject) -> Told:
    one = DaemonSet(api)
    again = api.send("POST", at(one.namespace, "daemonsets"), one.manifest, query=CREATE)
    return {"made": told(api, one.live), "again": told(api, again), "stored": stored(api, one.path)}


def applying_what_was_created_shares_it(api: ApiSubject) -> Told:
    one = DaemonSet(api)
    return {"applied": told(api, one.apply(one.manifest)), "again": told(api, one.apply(one.manifest))}


def drift_is_restored(api: ApiSubject) -> Told:
    one = DaemonSet(api)
    pod = ("spec", "template", "spec")
    stranger = one.changed(*pod, "containers", 0, "image", to="registry.example/other:2")
    stranger["spec"]["template"]["spec"]["containers"][0]["env"].append({"name": "THEIRS", "value": "1"})
    stranger["spec"]["template"]["metadata"]["annotations"]["theirs"] = "yes"
    return {
        "drifted": told(api, one.apply(stranger, manager="stranger")),
        "restored": told(api, one.apply(one.manifest)),
    }


def what_is_no_longer_applied_goes(api: ApiSubject) -> Told:
    one = DaemonSet(api)
    pod = ("spec", "template", "spec")
    one.apply(one.manifest)
    without_class = one.apply(one.changed(*pod, "runtimeClassName", to=None))
    more = one.changed(*pod, "initContainers", 0, "env", to=[{"name": "ONE", "value": "1"}])
    return {"created with it": told(api, without_class), "fewer items": told(api, one.apply(more))}


def settings_that_change_raise_the_generation(api: ApiSubject) -> Told:
    one = DaemonSet(api)
    labelled = one.changed("metadata", "labels", to=one.manifest["metadata"]["labels"] | {"more": "yes"})
    hashed = one.changed("spec", "template", "metadata", "annotations", to={"better-compute.dev/config-hash": "new"})
    return {
        "labelled": {"generation": one.apply(labelled).body["metadata"]["generation"]},
        "changed": {"generation": one.apply(hashed).body["metadata"]["generation"]},
        "unchanged": {"generation": one.apply(hashed).body["metadata"]["generation"]},
    }


def an_invalid_daemon_set_is_not_created(api: ApiSubject) -> Told:
    one = DaemonSet(api)
    sets = at(one.namespace, "daemonsets")
    pod = ("spec", "template", "spec")
    container = one.manifest["spec"]["template"]["spec"]["containers"][0]
    bodies = {
        "no spec": one.changed("spec", to={}),
        "selector of others": one.changed("spec", "selector", "matchLabels", to={"app": "other"}),
        "empty selector": one.changed("spec", "selector", "matchLabels", to={}),
        "no containers": one.changed(*pod, "containers", to=[]),
        "no image": one.changed(*pod, "containers", 0, "image", to=None),
        "no container name": one.changed(*pod, "containers", 0, "name", to=""),
        "twice the same container": one.changed(*pod, "containers", to=[container, container]),
        "empty runtime class": one.changed(*pod, "runtimeClassName", to=""),
        "bad runtime class": one.changed(*pod, "runtimeClassName", to="Not A Name"),
        "toleration of nothing": one.changed(*pod, "tolerations", to=[{"operator": "Equal"}]),
        "volume without source": one.changed(*pod, "volumes", to=[{"name": "v"}]),
        "mount of no volume": one.changed(*pod, "volumes", to=[]),
        "no mount path": one.changed(*pod, "containers", 0, "volumeMounts", 0, "mountPath", to=None),
        "bad share": one.changed("spec", "updateStrategy", "rollingUpdate", "maxUnavailable", to="many"),
        "bad strategy": one.changed("spec", "updateStrategy", "type", to="Sometimes"),
        "bad node selector": one.changed(*pod, "nodeSelector", to={"k": "not a value"}),
        "bad template label": one.changed("spec", "template", "metadata", "labels", "k", to="not a value"),
        "variable without name": one.changed(*pod, "containers", 0, "env", to=[{"name": "", "value": "v"}]),
        "bad quantity": one.changed(*pod, "containers", 0, "resources", "requests", "cpu", to="much"),
        "unknown field": one.changed(*pod, "nodeSelectors", to={}),
        "wrong type": one.changed(*pod, "enableServiceLinks", to="no"),
    }
    for number, body in enumerate(bodies.values()):
        body["metadata"]["name"] = f"another-{number}"
    return {what: told(api, api.send("POST", sets, body, query=CREATE)) for what, body in bodies.items()}


def an_invalid_daemon_set_is_not_applied(api: ApiSubject) -> Told:
    one = DaemonSet(api)
    pod = ("spec", "template", "spec")
    label = {"matchLabels": {"app.kubernetes.io/name": "bcd"}}
    bodies = {
        "another selector": one.changed("spec", "selector", to=label),
        "selector of others": one.changed("spec", "template", "metadata", "labels", "app.kubernetes.io/name", to="x"),
        "bad runtime class": one.changed(*pod, "runtimeClassName", to="Not A Name"),
        "mount of no volume": one.changed(*pod, "containers", 0, "volumeMounts", 0, "name", to="none"),
        "twice the same container": one.changed(
            *pod, "containers", to=one.manifest["spec"]["template"]["spec"]["containers"] * 2
        ),
        "unknown field": one.changed(*pod, "nodeSelectors", to={}),
        "wrong type": one.changed(*pod, "enableServiceLinks", to="no"),
    }
    return {what: told(api, one.apply(body)) for what, body in bodies.items()} | {
        "stored": {"generation": api.send("GET", one.path).body["metadata"]["generation"]}
    }


DAEMON_SETS = (
    a_daemon_set_is_created,
    applying_what_was_created_shares_it,
    drift_is_restored,
    what_is_no_longer_applied_goes,
    settings_that_change_raise_the_generation,
    an_invalid_daemon_set_is_not_created,
    an_invalid_daemon_set_is_not_applied,
)
