# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A flavor's bounds, labels, taints and disk, a cluster's version: taken as they are meant, or refused with why."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import pytest

from ansible_collections.better_compute.fleet.plugins.module_utils._core.documents.hopeless import hopeless
from ansible_collections.better_compute.fleet.plugins.module_utils._core.documents.load import (
    load_text,
    parse_document,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.capabilities import CAPABILITIES
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.declared import (
    Autoscaling,
    Flavor,
    Taint,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import InvalidInput
from ansible_collections.better_compute.fleet.tests.support.fleet_documents import changed, on_account, put

SUBSTRATE = "pools.0.policy.substrate"
FLAVOR = f"{SUBSTRATE}.flavors.0"
VERSION = f"{SUBSTRATE}.cluster.create.version"
SPELT = "pools[0].policy.substrate.flavors[0]"
TAINT = {"key": "gpu", "value": "h100", "effect": "NoSchedule"}


def told(call: Any) -> dict[str, str]:
    """Path -> message of everything that is wrong."""
    with pytest.raises(InvalidInput) as caught:
        call()
    return {problem.path: problem.message for problem in caught.value.problems}


def only(path: str, value: Any) -> tuple[str, str]:
    """The one problem of the example's first flavor with one of its keys set."""
    data = changed(f"{FLAVOR}.{path}", value)
    ((place, message),) = told(lambda: parse_document(data)).items()
    return place.removeprefix(SPELT), message


def flavor(data: dict[str, Any]) -> Flavor:
    substrate = parse_document(data).pools[0].substrate
    assert substrate is not None
    return substrate.flavors[0]


def test_a_flavor_is_read_whole() -> None:
    data = on_account("gcp", "us-central1-a", {"nodes": 2})
    put(data, f"{FLAVOR}.autoscaling", {"minNodes": 0, "maxNodes": 4})
    put(data, f"{FLAVOR}.diskType", "pd-balanced")
    put(data, f"{FLAVOR}.labels", {"team": "ml", "example.com/cost-centre": "", "a": "1"})
    put(data, f"{FLAVOR}.taints", [TAINT, {"key": "example.com/x", "effect": "NoExecute"}])
    assert flavor(data) == Flavor(
        name="gpu",
        machine_type="a3-highgpu-8g",
        nodes=2,
        autoscaling=Autoscaling(min_nodes=0, max_nodes=4),
        disk_type="pd-balanced",
        labels={"a": "1", "example.com/cost-centre": "", "team": "ml"},
        taints=(
            Taint(key="example.com/x", effect="NoExecute"),
            Taint(key="gpu", effect="NoSchedule", value="h100"),
        ),
    )


@pytest.mark.parametrize(
    ("bounds", "place", "message"),
    [
        (
            {"minNodes": 3, "maxNodes": 9},
            ".nodes",
            "expected at least autoscaling.minNodes (the number 3), found the number 2",
        ),
        (
            {"minNodes": 0, "maxNodes": 1},
            ".nodes",
            "expected at most autoscaling.maxNodes (the number 1), found the number 2",
        ),
        (
            {"minNodes": 3, "maxNodes": 2},
            ".autoscaling.minNodes",
            "expected at most maxNodes (the number 2), found the number 3",
        ),
        ({"minNodes": 0, "maxNodes": 0}, ".autoscaling.maxNodes", "expected at least 1, found the number 0"),
        ({"minNodes": -1, "maxNodes": 9}, ".autoscaling.minNodes", "expected at least 0, found the number -1"),
        ({"minNodes": 0, "maxNodes": 1001}, ".autoscaling.maxNodes", "expected at most 1000, found the number 1001"),
        ({"maxNodes": 9}, ".autoscaling.minNodes", "is required, and is not there"),
        ({"minNodes": 1}, ".autoscaling.maxNodes", "is required, and is not there"),
        ({"minNodes": True, "maxNodes": 9}, ".autoscaling.minNodes", "expected a whole number, found true"),
        ({"minNodes": 1, "maxNodes": "9"}, ".autoscaling.maxNodes", 'expected a whole number, found the string "9"'),
        ({"minNodes": 1, "maxNodes": 9, "enabled": True}, ".autoscaling.enabled", "unknown key"),
        (False, ".autoscaling", "expected a mapping, found false"),
    ],
)
def test_bounds_hold_the_nodes_and_each_other(bounds: Any, place: str, message: str) -> None:
    found, said = only("autoscaling", bounds)
    assert (found, said.startswith(message)) == (place, True), said


@pytest.mark.parametrize(
    ("key", "message"),
    [
        ("better-compute.dev/x", "labels under better-compute.dev/ are this product's own"),
        ("a.bc.dev/x", "labels under a.bc.dev/ are this product's own"),
        ("kubernetes.io/hostname", "labels under kubernetes.io/ are Kubernetes' own"),
        ("node.kubernetes.io/x", "labels under node.kubernetes.io/ are Kubernetes' own"),
        ("eks.amazonaws.com/nodegroup", "labels under eks.amazonaws.com/ are the provider's own"),
        ("-x", "expected a name of 1 to 63 ASCII letters"),
        ("a/b/c", "expected a name of 1 to 63 ASCII letters"),
        ("Example.com/x", "expected a name of 1 to 63 ASCII letters"),
        ("x" * 64, "expected a name of 1 to 63 ASCII letters"),
        ("x\n", "expected a name of 1 to 63 ASCII letters"),
        ("\u0663", "expected a name of 1 to 63 ASCII letters"),
        (f"{'a' * 60}.com/x", "EKS takes keys of at most 63 characters, this one has 66"),
    ],
)
def test_a_label_has_a_key_that_is_kubernetes_and_nobody_elses(key: str, message: str) -> None:
    place, said = only("labels", {key: "v"})
    assert (place.startswith(".labels"), said.startswith(message)) == (True, True), said


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("", "expected a value: this provider takes no label without one"),
        ("a b", "expected at most 63 ASCII letters"),
        ("x" * 64, "expected at most 63 ASCII letters"),
        ("v\n", "expected at most 63 ASCII letters"),
        ("\u00b2", "expected at most 63 ASCII letters"),
        (False, "expected a string, found false: put it in quotes"),
        (123, "expected a string, found the number 123: put it in quotes"),
        (1.5, "expected a string, found the number 1.5: put it in quotes"),
        (None, "null is no value"),
        ([], "expected a string, found a list"),
    ],
)
def test_a_label_has_a_plain_value(value: Any, message: str) -> None:
    place, said = only("labels", {"x": value})
    assert (place, said.startswith(message)) == (".labels.x", True), said


def test_a_label_without_a_value_is_taken_where_the_provider_takes_it() -> None:
    assert flavor(on_account("gcp", "us-central1-a", {"labels": {"x": ""}})).labels == {"x": ""}


def test_labels_and_taints_are_at_most_thirty_two() -> None:
    labels = {f"k{number}": "v" for number in range(33)}
    assert only("labels", labels) == (".labels", "expected at most 32 labels, found 33")
    del labels["k0"]
    assert flavor(changed(f"{FLAVOR}.labels", labels)).labels == labels
    taints = [TAINT | {"key": f"k{number}"} for number in range(33)]
    assert only("taints", taints) == (".taints", "expected at most 32 taints, found 33")
    assert len(flavor(changed(f"{FLAVOR}.taints", taints[1:])).taints or ()) == 32


@pytest.mark.parametrize(
    ("taint", "place", "message"),
    [
        (
            TAINT | {"effect": "Never"},
            "effect",
            "expected one of NoSchedule, PreferNoSchedule, NoExecute, found 'Never'",
        ),
        (TAINT | {"value": "x" * 64}, "value", "expected at most 63 ASCII letters"),
        (TAINT | {"value": "x\n"}, "value", "expected at most 63 ASCII letters"),
        (TAINT | {"value": 123}, "value", "expected a string, found the number 123: put it in quotes"),
        (TAINT | {"key": "a b"}, "key", "expected a name of 1 to 63 ASCII letters"),
        (TAINT | {"key": f"{'a' * 60}.com/x"}, "key", "EKS takes keys of at most 63 characters, this one has 66"),
        ({"key": "x"}, "effect", "is required, and is not there"),
        ({"effect": "NoExecute"}, "key", "is required, and is not there"),
        (TAINT | {"operator": "Exists"}, "operator", "unknown key"),
    ],
)
def test_a_taint_is_told_of_at_its_place(taint: dict[str, Any], place: str, message: str) -> None:
    found, said = only("taints", [{"key": "fine", "effect": "NoExecute"}, taint])
    assert (found, said.startswith(message)) == (f".taints[1].{place}", True), said


def test_a_taints_place_is_right_beside_one_that_is_none() -> None:
    data = changed(f"{FLAVOR}.taints", ["x", TAINT | {"value": "a b"}])
    assert told(lambda: parse_document(data)).keys() == {f"{SPELT}.taints[0]", f"{SPELT}.taints[1].value"}


def test_key_and_effect_of_a_taint_are_there_once_whatever_the_value() -> None:
    assert only("taints", [TAINT, TAINT | {"value": "x"}]) == (
        ".taints[1].key",
        "key and effect are there twice: also at [0]",
    )
    assert len(flavor(changed(f"{FLAVOR}.taints", [TAINT, TAINT | {"effect": "NoExecute"}])).taints or ()) == 2


def test_no_labels_and_no_taints_are_something_else_than_none_said() -> None:
    said = flavor(put(changed(f"{FLAVOR}.labels", {}), f"{FLAVOR}.taints", []))
    assert (said.labels, said.taints) == ({}, ())
    unsaid = flavor(changed(f"{FLAVOR}.nodes", 1))
    assert (unsaid.labels, unsaid.taints) == (None, None)


def test_eks_has_no_disk_type_and_says_so() -> None:
    place, message = only("diskType", "gp3")
    assert (place, message) == (
        ".diskType",
        "EKS node pools have no disk type to choose: leave diskType out (diskGiB can be chosen)",
    )


@pytest.mark.parametrize("kind", ["", "x", "PD-ssd", "pd balanced", "a" * 42, "pd\n", "-pd"])
def test_a_disk_type_has_a_plain_name(kind: str) -> None:
    data = on_account("gcp", "us-central1-a", {"diskType": kind})
    assert told(lambda: parse_document(data)).keys() == {f"{SPELT}.diskType"}


@pytest.mark.parametrize(
    "version", ["1.3", "1.34.1", "v1.34", "1.34\n", "1.\u0663\u0664", "2.10", "", "latest", "1.034"]
)
def test_a_version_is_a_minor_one(version: str) -> None:
    ((place, message),) = told(lambda: parse_document(changed(VERSION, version))).items()
    assert place == "pools[0].policy.substrate.cluster.create.version"
    assert message.startswith('expected a Kubernetes version without its patch, e.g. "1.34", found the string ')


@pytest.mark.parametrize("value", ["automatic", "Drain", True, ""])
def test_upgrades_are_manual_or_drain(value: Any) -> None:
    assert list(told(lambda: parse_document(changed(f"{SUBSTRATE}.upgrades", value)))) == [
        "pools[0].policy.substrate.upgrades"
    ]
    for word in ("manual", "drain"):
        substrate = parse_document(changed(f"{SUBSTRATE}.upgrades", word)).pools[0].substrate
        assert substrate is not None
        assert substrate.upgrades == word


@pytest.mark.parametrize(
    ("line", "place", "message"),
    [
        ("labels: {x: no}", "labels.x", "YAML readers differ on a plain no: put it in quotes"),
        ("labels: {x: 0123}", "labels.x", "YAML readers differ on a plain 0123"),
        ("labels: {x: 22:22}", "labels.x", "YAML readers differ on a plain 22:22"),
        ("labels: {on: x}", "labels", "YAML readers differ on a plain on"),
        ("labels: {1: x}", "labels", "a key must be a string"),
        (
            "taints: [{key: x, value: 0123, effect: NoExecute}]",
            "taints[0].value",
            "YAML readers differ on a plain 0123",
        ),
        (
            "taints: [{key: x, value: 1_000, effect: NoExecute}]",
            "taints[0].value",
            "YAML readers differ on a plain 1_000",
        ),
        ("autoscaling: {minNodes: 0x1, maxNodes: 2}", "autoscaling.minNodes", "YAML readers differ on a plain 0x1"),
        ("version: 1.30", "version", "a plain 1.30 is read as the number 1.3: put it in quotes"),
        ("labels: &a {x: y}\n    more: *a", "labels", "anchors (&) are not taken"),
        ("labels: {x: a, x: b}", "labels.x", "this key is there twice"),
    ],
)
def test_what_yaml_takes_for_something_else_is_refused_at_its_place(line: str, place: str, message: str) -> None:
    said = told(lambda: load_text(f"flavors:\n  - name: x\n    {line}\n", "x.yml"))
    assert said[f"flavors[0].{place}"].startswith(message), said


def test_a_version_that_yaml_takes_for_a_number_is_told_to_be_quoted() -> None:
    ((place, message),) = told(lambda: parse_document(changed(VERSION, 1.34))).items()
    assert place == "pools[0].policy.substrate.cluster.create.version"
    assert message == "expected a string, found the number 1.34: put it in quotes"


@pytest.mark.parametrize("width", [100, 101])
def test_as_many_labels_as_a_document_may_have_cost_little_time(width: int) -> None:
    data = changed(f"{FLAVOR}.labels", {f"{number}" + "x" * 100_000: "y" * 100_000 for number in range(width)})
    begun = time.process_time()
    said = told(lambda: parse_document(data))
    assert time.process_time() - begun < 2
    assert sum(len(path) + len(message) for path, message in said.items()) < 100_000


def test_a_name_that_the_provider_has_no_room_for_is_told_with_both_lengths(monkeypatch: pytest.MonkeyPatch) -> None:
    ((place, message),) = told(lambda: parse_document(changed(f"{FLAVOR}.name", "a" * 41))).items()
    assert (place, message.startswith("expected 1 to 40 "), message.endswith("(41 characters)")) == (
        f"{SPELT}.name",
        True,
        True,
    )
    assert hopeless(parse_document(changed(f"{FLAVOR}.name", "a" * 40))) == ()
    monkeypatch.setitem(CAPABILITIES, "aws", replace(CAPABILITIES["aws"], max_node_pool_name=12))
    (problem,) = hopeless(parse_document(changed(f"{FLAVOR}.name", "a" * 13)))
    assert str(problem) == (
        f"{SPELT}.name: the node pool's name at the provider, {'a' * 13}, has 13 characters; EKS takes at most 12"
    )
