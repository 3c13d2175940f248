# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""docs/permissions-digitalocean.md names exactly the scopes that the DOKS driver's calls need."""

from __future__ import annotations

import ast
import re

from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.doks.api import Droplets, Kubernetes
from ansible_collections.better_compute.fleet.tests.support.pages import CORE, DOCS, table_rows

_PAGE = DOCS / "permissions-digitalocean.md"
_DRIVER = CORE / "providers" / "doks"

_SCOPES = {
    "list_clusters": "kubernetes:read",
    "get_cluster": "kubernetes:read",
    "list_options": "kubernetes:read",
    "get_available_upgrades": "kubernetes:read",
    "create_cluster": "kubernetes:create",
    "add_node_pool": "kubernetes:create",
    "update_node_pool": "kubernetes:update",
    "upgrade_cluster": "kubernetes:update",
    "delete_cluster": "kubernetes:delete",
    "delete_node_pool": "kubernetes:delete",
    "get_credentials": "kubernetes:access_cluster",
    "list": "droplet:read",
}
"""By pydo's method (the API's reference, "Kubernetes" and "Droplets": the scopes of each operation)."""

_BESIDE = {"tag:read", "tag:create", "regions:read", "sizes:read", "actions:read"}
"""For the tags within requests and replies, and what a token must have beside any `kubernetes` scope."""


def offered() -> set[str]:
    """The methods that the driver says it calls."""
    return {name for part in (Kubernetes, Droplets) for name in vars(part) if not name.startswith("_")}


def called() -> set[str]:
    """Those that its code names: `….kubernetes.<method>`, `droplets.<method>`."""
    nodes = (node for file in sorted(_DRIVER.glob("*.py")) for node in ast.walk(ast.parse(file.read_text("utf-8"))))
    return {method for node in nodes for method in _method(node) if method in offered()}


def _method(node: ast.AST) -> list[str]:
    match node:
        case ast.Attribute(
            value=ast.Name(id="kubernetes" | "droplets") | ast.Attribute(attr="kubernetes" | "droplets"), attr=method
        ):
            return [method]
    return []


def test_every_call_that_the_driver_says_it_makes_it_makes_and_pydo_has_it() -> None:
    from pydo.operations import DropletsOperations, KubernetesOperations

    assert called() == offered() == set(_SCOPES)
    for name in offered():
        assert hasattr(KubernetesOperations, name) or hasattr(DropletsOperations, name)


def test_the_page_names_the_scopes_of_what_is_called_and_no_more() -> None:
    explained = {scope for first, *_ in table_rows(_PAGE) for scope in re.findall(r"`([a-z]+:[a-z_]+)`", first)}
    assert explained == {_SCOPES[method] for method in called()} | _BESIDE
