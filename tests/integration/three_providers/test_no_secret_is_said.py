# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""No secret of Google's or DigitalOcean's is said or written, nor one of their clusters, whatever fails.

AWS's: tests/e2e/test_canary.py.
"""

from __future__ import annotations

import contextlib
import json

import pytest

from ansible_collections.better_compute.fleet.emulators.digitalocean.tokens import Tokens as DigitalOceanTokens
from ansible_collections.better_compute.fleet.emulators.engine import Error, LostReply
from ansible_collections.better_compute.fleet.emulators.gcp.project import Tokens as GoogleTokens
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import ProviderError
from ansible_collections.better_compute.fleet.tests.support.everything_logged import everything_logged
from ansible_collections.better_compute.fleet.tests.support.life.clouds import GKE, Cloud
from ansible_collections.better_compute.fleet.tests.support.life.fleet_on_clouds import FleetOnClouds
from ansible_collections.better_compute.fleet.tests.support.secret_watch import ACCESS, IDENTITY, JOIN, SecretWatch

ACCOUNT = "the account's own secret"
ISSUED = "a token that the provider issued"

FAULTS = (
    Error(status=500, code="INTERNAL", message="it broke"),
    Error(status=401, code="UNAUTHENTICATED", message="who are you"),
    Error(status=403, code="PERMISSION_DENIED", message="you may not"),
    LostReply(),
)


@pytest.fixture
def watch(clouds: FleetOnClouds, cloud: Cloud, monkeypatch: pytest.MonkeyPatch) -> SecretWatch:
    """Knows every secret of the provider from the beginning."""
    world = clouds.fleet.scene.world
    made = SecretWatch(world, monkeypatch)
    if cloud is GKE:
        key = world.gcp.service_account_key()["private_key"]
        made.note(ACCOUNT, *(line for line in key.splitlines() if "-----" not in line))
        issue = GoogleTokens.issue

        def issued(
            tokens: GoogleTokens, account: str, *, seconds: float | None = None, lacks: tuple[str, ...] = ()
        ) -> str:
            token = issue(tokens, account, seconds=seconds, lacks=lacks)
            made.note(ISSUED, token)
            return token

        monkeypatch.setattr(GoogleTokens, "issue", issued)
    else:
        made.note(ACCOUNT, world.digitalocean.token)
        keep = DigitalOceanTokens.issue_for_cluster

        def kept(tokens: DigitalOceanTokens, cluster: str, *, seconds: float) -> object:
            token, ends = keep(tokens, cluster, seconds=seconds)
            made.note(ISSUED, token)
            return token, ends

        monkeypatch.setattr(DigitalOceanTokens, "issue_for_cluster", kept)
    return made


def test_failures_at_the_provider_and_in_its_cluster_say_no_secret(
    clouds: FleetOnClouds, cloud: Cloud, watch: SecretWatch
) -> None:
    fleet, flavors = clouds.fleet, (cloud.flavor("h100"), cloud.spot_flavor("h100-spot"))
    said: list[str] = []
    with everything_logged() as logged:
        clouds.join_all(cloud, *flavors, nodes=3 if cloud is GKE else 2)
        watch.look_at_machines()
        for where, name, action in [
            *((cloud.emulated, "*", action) for action in FAULTS),
            *(("kubernetes", name, action) for name in ("*", "LIST nodes") for action in FAULTS),
        ]:
            fault = fleet.scene.engine.faults.add(where, name, action, times=None)
            view = fleet.one_pass()
            assert fault.struck
            said += [view.record.message, json.dumps(view.to_data())]
            with contextlib.suppress(ProviderError):
                said.append(repr(fleet.plan(clouds.document(cloud, *flavors))))
            fleet.scene.engine.faults.remove(fault)
        clouds.prune()
    said += [repr(fleet.rows()), repr(fleet.session.store)]
    assert set(watch.secrets) == {ACCOUNT, ISSUED, ACCESS, JOIN, IDENTITY}
    assert watch.leaks("\n".join(said)) == set()
    assert watch.leaks(logged()) == set()
