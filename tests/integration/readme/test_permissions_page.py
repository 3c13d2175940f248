# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""docs/permissions.md names exactly what the EKS driver calls, and what AWS asks for on top of that."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path

import botocore.session
from botocore import xform_name

from ansible_collections.better_compute.fleet.tests.conformance.life import bring_up, tear_down
from ansible_collections.better_compute.fleet.tests.support.eks_subject import eks_subject
from ansible_collections.better_compute.fleet.tests.support.pages import CORE, DOCS, blocks, table_rows

_PAGE = DOCS / "permissions.md"
_DRIVER = CORE / "providers" / "eks"

_ASKED_FOR_BY_AWS = {
    "eks:TagResource",  # for the tags within the creates
    "iam:PassRole",
    "iam:CreateServiceLinkedRole",
    "iam:ListAttachedRolePolicies",  # by CreateNodegroup, of the caller (aws-controllers-k8s/community#2164)
}
"""Without a call of the driver's of that name."""


def called() -> Iterator[str]:
    """The operations in the driver's code, as IAM spells them: each is made as `call(<client>.<method>, …)`."""
    session = botocore.session.get_session()
    for file in sorted(_DRIVER.glob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            match node:
                case ast.Call(
                    func=ast.Name(id="call"),
                    args=[ast.Attribute(value=ast.Name(id=service) | ast.Attribute(attr=service), attr=method), *_],
                ):
                    names = session.get_service_model(service).operation_names
                    yield f"{service}:{next(name for name in names if xform_name(name) == method)}"


def allowed() -> set[str]:
    """The actions of the page's policy."""
    (policy,) = blocks(_PAGE, "json")
    statements = json.loads(policy)["Statement"]
    found = [
        action
        for statement in statements
        for action in ([statement["Action"]] if isinstance(statement["Action"], str) else statement["Action"])
    ]
    assert len(found) == len(set(found))
    return set(found)


def test_the_policy_allows_what_the_driver_calls_and_what_aws_asks_for_and_no_more() -> None:
    calls = set(called())
    assert len(calls) > len(_ASKED_FOR_BY_AWS)
    assert allowed() == calls | _ASKED_FOR_BY_AWS


def test_whatever_reaches_the_emulated_aws_in_a_clusters_life_is_allowed(tmp_path: Path) -> None:
    with eks_subject(tmp_path) as subject:
        bring_up(subject, subject.node_pool)
        tear_down(subject)
        reached = {entry.call.name.replace(".", ":") for entry in subject.engine.log.entries(cloud="aws")}
    assert {"eks:CreateNodegroup", "eks:CreateAccessEntry", "eks:DeleteCluster"} <= reached
    assert reached - allowed() == set()


def test_the_page_says_of_each_action_what_it_is_for() -> None:
    explained = {action for first, *_ in table_rows(_PAGE) for action in re.findall(r"`([a-z0-9]+:[A-Za-z]+)`", first)}
    assert explained == allowed()
