# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Probes of deletes: by uid, at once or when all that it owns is gone, and a namespace with all that is in it."""

from __future__ import annotations

from .creating import binding
from .daemon_sets import DaemonSet
from .observation import Told, stored, told
from .subject import BINDINGS, CREATE, NAMESPACES, ApiSubject, at, deletion, manifest

_OTHER_UID = "00000000-0000-4000-8000-000000000000"


def each_kind_is_deleted_at_once(api: ApiSubject) -> Told:
    namespace = api.namespace()
    said = {}
    for kind, plural in (("ConfigMap", "configmaps"), ("Secret", "secrets"), ("ServiceAccount", "serviceaccounts")):
        live = api.send("POST", at(namespace, plural), manifest(kind, "a", namespace), query=CREATE)
        path = at(namespace, plural, "a")
        said[f"{kind} by another uid"] = told(api, api.send("DELETE", path, deletion(_OTHER_UID)))
        said[kind] = told(api, api.send("DELETE", path, deletion(live.uid)))
        said[f"{kind} again"] = told(api, api.send("DELETE", path, deletion(live.uid)))
        said[f"{kind} stored"] = stored(api, path)
    return said


def a_binding_is_deleted_at_once(api: ApiSubject) -> Told:
    live = api.send("POST", BINDINGS, binding(api), query=CREATE)
    path = f"{BINDINGS}/{api.name()}"
    return {
        "by another uid": told(api, api.send("DELETE", path, deletion(_OTHER_UID))),
        "deleted": told(api, api.send("DELETE", path, deletion(live.uid))),
        "stored": stored(api, path),
    }


def a_daemon_set_is_deleted_at_once(api: ApiSubject) -> Told:
    one = DaemonSet(api)
    return {
        "by another uid": told(api, api.send("DELETE", one.path, deletion(_OTHER_UID))),
        "deleted": told(api, api.send("DELETE", one.path, deletion(one.live.uid))),
        "stored": stored(api, one.path),
    }


def a_daemon_set_waits_for_its_pods(api: ApiSubject) -> Told:
    one = DaemonSet(api)
    foreground = deletion(one.live.uid, "Foreground")
    going = api.send("DELETE", one.path, foreground)
    api.keeper.wait_until(lambda: api.send("GET", one.path).code == 404)
    return {"going": told(api, going), "gone": stored(api, one.path)}


def a_namespace_goes_with_all_that_is_in_it(api: ApiSubject) -> Told:
    namespace = api.namespace()
    inside = api.send("POST", at(namespace, "configmaps"), manifest("ConfigMap", "a", namespace), query=CREATE)
    path = f"{NAMESPACES}/{namespace}"
    live = api.send("GET", path)
    wrong = api.send("DELETE", path, deletion(_OTHER_UID))
    going = api.send("DELETE", path, deletion(live.uid))
    api.keeper.wait_until(lambda: api.send("GET", path).code == 404)
    return {
        "inside": {"code": inside.code},
        "by another uid": told(api, wrong),
        "going": told(api, going),
        "gone": stored(api, path),
        "what was inside": stored(api, at(namespace, "configmaps", "a")),
    }


def a_namespace_that_is_going_goes_on(api: ApiSubject) -> Told:
    path = f"{NAMESPACES}/{api.stuck_namespace()}"
    live = api.send("GET", path)
    again = api.send("DELETE", path, deletion(live.uid))
    # What holds it there is the probe's own affair.
    return {"again": {"code": again.code, "kind": again.body["kind"], "status": again.body["status"]["phase"]}}


def kubernetes_own_namespaces_stay(api: ApiSubject) -> Told:
    return {
        name: told(api, api.send("DELETE", f"{NAMESPACES}/{name}", deletion()))
        for name in ("kube-system", "default", "kube-public")
    }


def a_delete_that_makes_no_sense_is_refused(api: ApiSubject) -> Told:
    namespace = api.namespace()
    path = at(namespace, "configmaps", "a")
    api.send("POST", at(namespace, "configmaps"), manifest("ConfigMap", "a", namespace), query=CREATE)
    return {
        "policy": told(api, api.send("DELETE", path, deletion(policy="Sometimes"))),
        "stored": {"code": api.send("GET", path).code},
    }


DELETING = (
    each_kind_is_deleted_at_once,
    a_binding_is_deleted_at_once,
    a_daemon_set_is_deleted_at_once,
    a_daemon_set_waits_for_its_pods,
    a_namespace_goes_with_all_that_is_in_it,
    a_namespace_that_is_going_goes_on,
    kubernetes_own_namespaces_stay,
    a_delete_that_makes_no_sense_is_refused,
)
