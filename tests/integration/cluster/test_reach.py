# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a cluster's API answers, to nobody in particular: what the doctor asks of each cluster."""

from __future__ import annotations

import socket

import pytest

from ansible_collections.better_compute.fleet.emulators.engine import Error
from ansible_collections.better_compute.fleet.emulators.kubernetes.certificates import make_server_context
from ansible_collections.better_compute.fleet.plugins.module_utils._core.cluster.reach import look
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import (
    ClusterError,
    ClusterUnreachable,
)

from .conftest import AnyWorld, World

with_certificate = pytest.mark.parametrize("known", [True, False], ids=["certificate", "no certificate"])


def test_an_api_that_answers_is_within_reach_and_learns_of_nobody(any_world: AnyWorld) -> None:
    mark = any_world.engine.log.mark
    look(any_world.url, any_world.ca_pem)
    [asked] = any_world.engine.log.entries(after=mark)
    assert (asked.call.name, asked.status) == ("GET namespaces", 401)


def test_without_a_certificate_a_connection_is_all_that_is_tried(world: World) -> None:
    mark = world.engine.log.mark
    look(world.url, "")
    assert world.engine.log.entries(after=mark) == ()


@with_certificate
def test_nobody_listening_is_out_of_reach(world: World, known: bool) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        address = f"https://127.0.0.1:{listener.getsockname()[1]}"
    with pytest.raises(ClusterUnreachable, match="refused"):
        look(address, world.ca_pem if known else "")


def test_another_server_in_its_place_is_out_of_reach(world: World) -> None:
    _context, other_ca = make_server_context(cluster="other", host="127.0.0.1")
    with pytest.raises(ClusterUnreachable, match="certificate verify failed"):
        look(world.url, other_ca)


def test_an_api_that_is_down_is_out_of_reach(world: World) -> None:
    world.engine.faults.add("kubernetes", "*", Error(status=503, code="ServiceUnavailable", message="down"), times=None)
    with pytest.raises(ClusterUnreachable, match="503"):
        look(world.url, world.ca_pem)


def test_a_proxy_that_refuses_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("https_proxy", "http://127.0.0.1:1")
    monkeypatch.setenv("no_proxy", "")
    with pytest.raises(ClusterUnreachable, match=r"https://gpu\.example: Connection refused"):
        look("https://gpu.example", "")


def test_an_endpoint_that_is_none_is_an_error(world: World) -> None:
    with pytest.raises(ClusterError):
        look("http://127.0.0.1:1", world.ca_pem)
