# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""docs/permissions.md names exactly what the GKE driver calls, and the permission that each call needs."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from ansible_collections.better_compute.fleet.tests.support.gke_subject import NODE_POOL, gke_subject
from ansible_collections.better_compute.fleet.tests.support.pages import CORE, DOCS, table_rows

_PAGE = DOCS / "permissions.md"
_DRIVER = CORE / "providers" / "gke"

_NEEDED = {
    "GetCluster": {"container.clusters.get", "container.clusters.getCredentials"},
    "CreateCluster": {"container.clusters.create", "iam.serviceAccounts.actAs"},
    "UpdateCluster": {"container.clusters.update"},
    "DeleteCluster": {"container.clusters.delete"},
    "GetNodePool": {"container.clusters.get"},
    "CreateNodePool": {"container.clusters.update", "iam.serviceAccounts.actAs"},
    "SetNodePoolSize": {"container.clusters.update"},
    "SetNodePoolAutoscaling": {"container.clusters.update"},
    "UpdateNodePool": {"container.clusters.update"},
    "DeleteNodePool": {"container.clusters.update"},
    "GetOperation": {"container.operations.get"},
    "ListOperations": {"container.operations.list"},
}
"""By call (Google's page on IAM for GKE): everything on node pools is an update of their cluster."""


def called() -> Iterator[str]:
    """The calls in the driver's code: each is made as `call(gke.<method>, …)`."""
    for file in sorted(_DRIVER.glob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            match node:
                case ast.Call(func=ast.Name(id="call"), args=[ast.Attribute(attr=method), *_]):
                    yield "".join(part.title() for part in method.split("_"))


def told() -> dict[str, set[str]]:
    """The permissions by call, as the page's table has them."""
    found: dict[str, set[str]] = {}
    for row in table_rows(_PAGE):
        permission = re.fullmatch(r"`((?:container|iam)\.[A-Za-z.]+)`", row[0].strip())
        for call in re.findall(r"`([A-Za-z]+)`", row[1]) if permission else ():
            found.setdefault(call, set()).add(permission[1] if permission else "")
    return found


def test_the_page_tells_the_permissions_of_each_call_that_the_driver_makes_and_no_other() -> None:
    assert set(called()) == set(_NEEDED)
    assert told() == _NEEDED


def test_whatever_reaches_the_emulated_gke_in_a_clusters_life_is_told(tmp_path: Path) -> None:
    with gke_subject(tmp_path) as google:
        google.stand()
        driver = google.open()
        driver.delete_node_pool(google.cluster, NODE_POOL.name, NODE_POOL.tags)
        google.settle()
        driver.delete_cluster(google.cluster)
        reached = {entry.call.name.removeprefix("gke.") for entry in google.engine.log.entries(cloud="gcp")}
    assert {"CreateCluster", "DeleteNodePool", "DeleteCluster"} <= reached
    assert reached <= set(told())
