# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A gateway that is away: silence says nothing, what is booked is served on, and everybody comes back as before."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.states import (
    ReservationState,
    SubstrateState,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.store.tables import tables
from ansible_collections.better_compute.fleet.tests.support.life.fleet_at_hand import Fleet
from ansible_collections.better_compute.fleet.tests.support.life.world import another_gateway, document


def who_is_joined(fleet: Fleet) -> dict[str, tuple[str, str | None, object]]:
    """Each node's id, identity and match, by its Node's name."""
    return {name: (node.id, node.identity_hash, node.node_uid) for name, node in fleet.nodes().items()}


def tokens(fleet: Fleet) -> tuple[int, int]:
    """How many join tokens there have ever been, and how many uses of them."""
    with fleet.session.store.read() as tx:
        return len(tx.rows(tables().join_tokens.select())), len(tx.rows(tables().token_uses.select()))


def served(fleet: Fleet) -> dict[str, list[str]]:
    """The devices that each machine's bcd advertises, by instance id, where it advertises any."""
    found = {}
    for path in Path(fleet.scene.world.machines.folder).rglob("host/var/lib/bcd/bookings.json"):
        kept = json.loads(path.read_text())
        devices = [device for booking in kept["bookings"] for device in booking["deviceIds"]]
        if devices:
            found[path.relative_to(fleet.scene.world.machines.folder).parts[0]] = sorted(devices)
    return found


def last_seen(fleet: Fleet) -> float:
    """For how many seconds the node that was silent for the longest has been."""
    now = fleet.scene.clock.now()
    return max((now - node.last_seen_at).total_seconds() for node in fleet.nodes().values())


@pytest.mark.parametrize("minutes", [0, 10], ids=["restarted", "ten-minutes"])
def test_nobody_is_retired_all_go_on_serving_and_come_back_without_a_token(fleet: Fleet, minutes: int) -> None:
    fleet.join_all(document())
    booked = fleet.book(name="job", gpus=4)
    fleet.live(seconds=30)
    before, minted, devices = who_is_joined(fleet), tokens(fleet), served(fleet)
    assert [len(ids) for ids in devices.values()] == [4]

    fleet.scene.gateway.close()
    for _ in range(minutes):
        fleet.live(minutes=1)
        fleet.one_pass()
        assert who_is_joined(fleet) == before
        assert served(fleet) == devices
        assert fleet.view().record.state == SubstrateState.READY
    with another_gateway(fleet.scene):
        # Two tries at most, and one batch of heartbeats.
        fleet.live(seconds=30)
        assert last_seen(fleet) < 20
        fleet.live(minutes=2)
        assert who_is_joined(fleet) == before
        assert served(fleet) == devices
        assert tokens(fleet) == minted
        assert fleet.reservation(booked).state == ReservationState.BOUND
        assert fleet.events("node.retired") == ()
        assert fleet.book(name="next", gpus=8).node_id is not None


def test_a_machine_that_goes_meanwhile_is_retired_once_its_silence_says_something(fleet: Fleet) -> None:
    fleet.join_all(document())
    lost = next(iter(fleet.nodes()))
    fleet.scene.gateway.close()
    fleet.scene.world.aws.lose_instance(fleet.instance_of(lost))
    fleet.live(minutes=5)
    fleet.one_pass()
    assert lost in fleet.nodes(), "its Node is gone, but nobody listens for its bcd"
    with another_gateway(fleet.scene):
        fleet.live(seconds=25)
        fleet.one_pass()
        assert lost in fleet.nodes(), "it may be about to come back like the others"
        fleet.live(until=lambda: lost not in fleet.nodes(), seconds=30)
        assert lost not in fleet.nodes(), "nobody waits for the next pass that is due anyway"
        assert [event.type for event in fleet.events("node.retired")] == ["node.retired"]
