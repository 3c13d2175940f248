# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The join token's Secret: written, replaced, read and deleted, only if it is ours."""

from __future__ import annotations

import pytest

from ansible_collections.better_compute.fleet.emulators.engine import LostReply
from ansible_collections.better_compute.fleet.plugins.module_utils._core.cluster.agent import apply_agent
from ansible_collections.better_compute.fleet.plugins.module_utils._core.cluster.api import ClusterApi
from ansible_collections.better_compute.fleet.plugins.module_utils._core.cluster.join_secret import (
    delete_join_token,
    read_join_token,
    write_join_token,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import ClusterUnreachable, NotOurs
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.secret import Secret

from .conftest import LABEL, OTHER_POOL, POOL, SETTINGS, AnyWorld

SECRETS = "/api/v1/namespaces/better-compute/secrets"
TOKEN = Secret("join-token-0123456789")


@pytest.fixture
def world(any_world: AnyWorld) -> AnyWorld:
    return any_world


@pytest.fixture
def api(world: AnyWorld) -> ClusterApi:
    opened = world.open()
    apply_agent(opened, pool_id=POOL, agent=SETTINGS)
    return opened


def test_there_is_none_at_first(api: ClusterApi) -> None:
    assert read_join_token(api, pool_id=POOL) is None


def test_there_is_none_before_bcds_namespace_either(world: AnyWorld) -> None:
    assert read_join_token(world.open(), pool_id=POOL) is None


def test_what_was_written_is_read(api: ClusterApi) -> None:
    write_join_token(api, pool_id=POOL, token=TOKEN)
    assert read_join_token(api, pool_id=POOL) == TOKEN


def test_a_new_token_takes_the_old_ones_place(api: ClusterApi) -> None:
    write_join_token(api, pool_id=POOL, token=TOKEN)
    write_join_token(api, pool_id=POOL, token=Secret("newer"))
    assert read_join_token(api, pool_id=POOL) == Secret("newer")


def test_writing_the_same_token_again_writes_nothing(world: AnyWorld, api: ClusterApi) -> None:
    write_join_token(api, pool_id=POOL, token=TOKEN)
    mark = world.engine.log.mark
    write_join_token(api, pool_id=POOL, token=TOKEN)
    assert world.writes(after=mark) == []


def test_a_lost_reply_is_healed_by_the_next_pass(world: AnyWorld, api: ClusterApi) -> None:
    world.engine.faults.add("kubernetes", "POST secrets", LostReply())
    with pytest.raises(ClusterUnreachable):
        write_join_token(api, pool_id=POOL, token=TOKEN)
    write_join_token(api, pool_id=POOL, token=Secret("newer"))
    assert read_join_token(api, pool_id=POOL) == Secret("newer")


def test_deleting_takes_it_away_and_again_is_no_error(world: AnyWorld, api: ClusterApi) -> None:
    write_join_token(api, pool_id=POOL, token=TOKEN)
    delete_join_token(api, pool_id=POOL)
    assert read_join_token(api, pool_id=POOL) is None
    mark = world.engine.log.mark
    delete_join_token(api, pool_id=POOL)
    assert world.writes(after=mark) == []


@pytest.mark.parametrize("labels", [None, {LABEL: OTHER_POOL}])
def test_a_secret_that_is_not_this_pools_is_left_alone(
    world: AnyWorld, api: ClusterApi, labels: dict[str, str] | None
) -> None:
    world.put("Secret", SECRETS, "bcd-join", labels=labels, type="Opaque", data={"token": "c29tZWJvZHlz"})
    mark = world.engine.log.mark
    with pytest.raises(NotOurs):
        read_join_token(api, pool_id=POOL)
    with pytest.raises(NotOurs):
        write_join_token(api, pool_id=POOL, token=TOKEN)
    delete_join_token(api, pool_id=POOL)
    assert world.writes(after=mark) == []


@pytest.mark.parametrize("data", [{}, {"token": ""}, {"other": "eA=="}, {"token": "/w=="}])
def test_a_secret_without_a_usable_token_counts_as_none_and_is_written_over(
    world: AnyWorld, api: ClusterApi, data: dict[str, str]
) -> None:
    world.put("Secret", SECRETS, "bcd-join", labels={LABEL: POOL}, type="Opaque", data=data)
    assert read_join_token(api, pool_id=POOL) is None
    write_join_token(api, pool_id=POOL, token=TOKEN)
    assert read_join_token(api, pool_id=POOL) == TOKEN
