# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Two who reconcile one pool with different AWS principals: both get in, and neither undoes what the other did."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import boto3
import pytest

from ansible_collections.better_compute.fleet.emulators.aws.account import REGION, Credentials
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.records import AccountRecord
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations import passes
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.session import Session
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.contract import Driver
from ansible_collections.better_compute.fleet.plugins.module_utils._core.store import work
from ansible_collections.better_compute.fleet.tests.support.fleet_documents import put
from ansible_collections.better_compute.fleet.tests.support.life.drivers import drivers_opened_once
from ansible_collections.better_compute.fleet.tests.support.life.fleet_at_hand import Fleet
from ansible_collections.better_compute.fleet.tests.support.life.world import document

DAEMON_ROLE = "arn:aws:iam::111111111111:role/fleet-daemon"

Become = Callable[[str, Credentials], Session]


@pytest.fixture
def become(fleet_on_either: Fleet, monkeypatch: pytest.MonkeyPatch) -> Become:
    """Makes sessions of processes that act as one principal or another."""
    fleet = fleet_on_either

    def session(holder: str, key: Credentials) -> Session:
        drivers = drivers_opened_once(fleet.scene.clock)

        def open_driver(account: AccountRecord) -> Driver:
            with monkeypatch.context() as environment:
                environment.setenv("AWS_ACCESS_KEY_ID", key.access_key_id)
                environment.setenv("AWS_SECRET_ACCESS_KEY", key.secret_access_key)
                if key.session_token is not None:
                    environment.setenv("AWS_SESSION_TOKEN", key.session_token)
                return drivers(account)

        return replace(fleet.session, holder=holder, open_driver=open_driver)

    return session


def assumed_role(fleet: Fleet) -> Credentials:
    """A session of the daemon's role."""
    environment = fleet.scene.environment
    sts = boto3.client(
        "sts",
        region_name=REGION,
        endpoint_url=fleet.scene.world.aws.url,
        aws_access_key_id=environment["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=environment["AWS_SECRET_ACCESS_KEY"],
    )
    answer = sts.assume_role(RoleArn=DAEMON_ROLE, RoleSessionName="bc-fleetd")["Credentials"]
    key = fleet.scene.world.aws.account.credentials(answer["AccessKeyId"])
    assert key is not None
    return key


def entries(fleet: Fleet) -> set[str]:
    """The principals that have an access entry on the pool's cluster."""
    account = fleet.scene.world.aws
    eks = boto3.client(
        "eks",
        region_name=REGION,
        endpoint_url=account.url,
        aws_access_key_id=account.operator.access_key_id,
        aws_secret_access_key=account.operator.secret_access_key,
    )
    return set(eks.list_access_entries(clusterName=fleet.cluster().name)["accessEntries"])


def test_each_principal_gets_in_by_an_entry_of_its_own_and_then_neither_writes(
    fleet_on_either: Fleet, become: Become
) -> None:
    fleet = fleet_on_either
    person, daemon = fleet.scene.world.aws.account.user("anna"), assumed_role(fleet)
    two = [become("person", person), become("daemon", daemon)]
    pools = fleet.apply(document())
    for session in two:
        [view] = passes.run_until_settled(session, pools, timeout=timedelta(hours=1))
        assert view.ready, view
    assert {person.principal_arn, DAEMON_ROLE} <= entries(fleet)
    fleet.live(until=fleet.at_rest, minutes=30)
    for session in two:
        passes.run_once(session, pools)
    rows, mark = fleet.rows(), fleet.scene.engine.log.mark
    for number in range(10):
        fleet.scene.clock.advance(60)
        passes.run_once(two[number % 2], pools)
    assert [entry.call.name for entry in fleet.scene.engine.log.writes(after=mark)] == []
    assert fleet.rows() == rows


def test_whoever_finds_the_lease_taken_watches_until_the_other_is_done(fleet_on_either: Fleet, become: Become) -> None:
    fleet = fleet_on_either
    person = become("person", fleet.scene.world.aws.account.user("anna"))
    daemon = become("daemon", assumed_role(fleet))
    pools = fleet.apply(document())
    passes.run_until_settled(daemon, pools, timeout=timedelta(hours=1))
    pools = fleet.apply(put(document(), "pools.0.policy.substrate.flavors.0.nodes", 2))
    [lease] = passes.claim_due(daemon, limit=1)
    waits = 0

    def meanwhile(seconds: float) -> None:
        nonlocal waits, lease
        waits += 1
        if waits == 5:
            passes.run_leased(daemon, lease)
        elif waits < 5:
            with daemon.store.write(lease=lease) as tx:
                lease = work.renew(tx, lease)
        else:
            passes_due(daemon)
        fleet.session.sleep(seconds)

    [view] = passes.run_until_settled(replace(person, sleep=meanwhile), pools, timeout=timedelta(hours=1))
    assert (view.ready, waits >= 5) == (True, True)
    assert fleet.node_pools()["h100"].shape.nodes == 2


def passes_due(session: Session) -> None:
    """What the daemon does when something is due."""
    for lease in passes.claim_due(session, limit=1):
        passes.run_leased(session, lease)
