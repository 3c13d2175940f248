# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Server-side apply: preconditions, ownership, conflicts, and what happens to fields that are no longer applied."""

from __future__ import annotations

from typing import Any

import pytest

from .conftest import Caller
from .test_objects import MAPS, SETS, daemon_set_spec


@pytest.fixture
def live(caller: Caller) -> dict[str, Any]:
    return caller.create(MAPS, "ConfigMap", "a", data={"k": "v", "l": "w"})[1]


def managers(obj: dict[str, Any]) -> list[tuple[str, str]]:
    return [(line["manager"], line["operation"]) for line in obj["metadata"]["managedFields"]]


def test_an_apply_without_a_field_manager_is_refused(caller: Caller, live: dict[str, Any]) -> None:
    code, status = caller.apply(MAPS, live, manager="", data={"k": "v"})
    assert code == 422
    assert "fieldManager: Required value" in status["message"]


def test_a_stale_resource_version_is_a_conflict(caller: Caller, live: dict[str, Any]) -> None:
    assert caller.apply(MAPS, live, force=True, data={"k": "new"})[0] == 200
    code, status = caller.apply(MAPS, live, force=True, data={"k": "newer"})
    assert (code, status["reason"]) == (409, "Conflict")
    assert "the object has been modified" in status["message"]


def test_another_uid_is_refused(caller: Caller, live: dict[str, Any]) -> None:
    code, status = caller.apply(MAPS, live, metadata={"uid": "another"}, data={"k": "v"})
    assert (code, status["reason"]) == (422, "Invalid")


def test_an_apply_never_creates(caller: Caller, live: dict[str, Any]) -> None:
    caller.delete(f"{MAPS}/a")
    code, status = caller.apply(MAPS, live, data={"k": "v"})
    assert code == 409
    assert "no existing object was found" in status["message"]


def test_our_own_create_counts_as_another_managers_fields(caller: Caller, live: dict[str, Any]) -> None:
    code, status = caller.apply(MAPS, live, data={"k": "new"})
    assert (code, status["reason"]) == (409, "Conflict")
    assert status["message"] == 'Apply failed with 1 conflict: conflict with "us" using v1: .data.k'
    assert status["details"]["causes"] == [
        {"reason": "FieldManagerConflict", "message": 'conflict with "us" using v1', "field": ".data.k"}
    ]


def test_force_takes_the_fields_over(caller: Caller, live: dict[str, Any]) -> None:
    code, changed = caller.apply(MAPS, live, force=True, data={"k": "new"})
    assert (code, changed["data"]) == (200, {"k": "new", "l": "w"})
    by_operation = {line["operation"]: line["fieldsV1"] for line in changed["metadata"]["managedFields"]}
    assert by_operation == {"Update": {"f:data": {".": {}, "f:l": {}}}, "Apply": {"f:data": {"f:k": {}}}}


def test_the_same_value_is_shared_and_no_conflict(caller: Caller, live: dict[str, Any]) -> None:
    code, changed = caller.apply(MAPS, live, data={"k": "v"})
    assert code == 200
    assert managers(changed) == [("us", "Update"), ("us", "Apply")]


def test_applying_the_same_again_changes_nothing(caller: Caller, live: dict[str, Any]) -> None:
    _code, once = caller.apply(MAPS, live, force=True, data={"k": "new"})
    assert caller.apply(MAPS, once, data={"k": "new"}) == (200, once)


def test_a_field_that_is_no_longer_applied_goes_if_nobody_else_owns_it(caller: Caller, live: dict[str, Any]) -> None:
    _code, more = caller.apply(MAPS, live, force=True, data={"k": "new", "m": "x"})
    _code, fewer = caller.apply(MAPS, more, data={"k": "new"})
    assert fewer["data"] == {"k": "new", "l": "w"}


def test_a_field_of_the_create_stays_when_it_is_not_applied(caller: Caller, live: dict[str, Any]) -> None:
    _code, changed = caller.apply(MAPS, live, data={"k": "v"})
    _code, changed = caller.apply(MAPS, changed, metadata={"labels": {"a": "b"}})
    assert changed["data"] == {"k": "v", "l": "w"}


def test_list_items_are_merged_by_their_key_and_go_with_it(caller: Caller) -> None:
    _code, live = caller.create(SETS, "DaemonSet", "bcd", spec=daemon_set_spec())
    env = [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}]

    def with_env(env: list[dict[str, str]]) -> dict[str, Any]:
        return {"template": {"spec": {"containers": [{"name": "run", "env": env}]}}}

    _code, more = caller.apply(SETS, live, spec=with_env(env))
    (container,) = more["spec"]["template"]["spec"]["containers"]
    assert (container["image"], container["env"]) == ("registry.example/bcd:1", env)
    _code, fewer = caller.apply(SETS, more, spec=with_env(env[1:]))
    (container,) = fewer["spec"]["template"]["spec"]["containers"]
    assert container["env"] == env[1:]


def test_a_changed_spec_raises_the_generation_and_a_label_does_not(caller: Caller) -> None:
    _code, live = caller.create(SETS, "DaemonSet", "bcd", spec=daemon_set_spec())
    _code, labelled = caller.apply(SETS, live, metadata={"labels": {"a": "b"}})
    assert labelled["metadata"]["generation"] == 1
    spec = {"template": {"spec": {"containers": [{"name": "run", "image": "registry.example/bcd:2"}]}}}
    _code, changed = caller.apply(SETS, labelled, force=True, spec=spec)
    assert changed["metadata"]["generation"] == 2


def test_the_selector_of_a_daemon_set_cannot_change(caller: Caller) -> None:
    _code, live = caller.create(SETS, "DaemonSet", "bcd", spec=daemon_set_spec())
    spec = {
        "selector": {"matchLabels": {"app": "new"}},
        "template": {"metadata": {"labels": {"app": "new"}}},
    }
    code, status = caller.apply(SETS, live, force=True, spec=spec)
    assert code == 422
    assert "field is immutable" in status["message"]
