# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""bc_reservation by tenants in a pool of the platform's: a quota lets them in, and nothing else does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from ansible_collections.better_compute.fleet.plugins.module_utils._core.documents.load import load_file
from ansible_collections.better_compute.fleet.tests.support.fleet_documents import EXAMPLE
from ansible_collections.better_compute.fleet.tests.support.life.world import document, without_pools
from ansible_collections.better_compute.fleet.tests.support.module_runs import Modules

TENANTS_AND_QUOTAS: Any = load_file(EXAMPLE.parent / "tenants-and-quotas.yml")
ANOTHER_POOL = "pool_01jb2k3m4n5p6q7r8s9t0v1w2x"


def with_quotas(**gpus: int) -> dict[str, Any]:
    """The document of the platform's pool, with these tenants' quotas there."""
    return document(quotas=[{"tenantId": tenant, "pool": "gpu-fleet", "gpus": most} for tenant, most in gpus.items()])


def pool_of(owner: str) -> dict[str, Any]:
    """A document of a tenant who has a pool of that same name, bare, with a quota there for itself and for globex."""
    bare = {"name": "gpu-fleet", "tenantId": owner, "site": "own", "class": "metal-host", "gpuModel": "L4"}
    site = {"name": "own", "tenantId": owner, "kind": "shared", "region": "us-east-1"}
    quotas = [{"tenantId": tenant, "pool": "gpu-fleet", "gpus": 8} for tenant in {owner, "globex"}]
    return {"version": 1, "sites": [site], "pools": [bare], "quotas": quotas}


@pytest.fixture
def fleet(modules: Modules) -> Modules:
    """The modules, with a platform's pool in which acme may hold 8 GPUs."""
    modules.fleet.apply(with_quotas(platform=16, acme=8))
    return modules


def book(modules: Modules, tenant: str = "acme", **arguments: Any) -> dict[str, Any]:
    given = {"name": "train-1", "pool": "gpu-fleet", "gpus": 2, **arguments}
    return modules.run("bc_reservation", tenant=tenant, **given)


def told(result: Mapping[str, Any]) -> tuple[bool, str]:
    """Whether it changed anything, and the code of a refusal, else the state of the reservation."""
    held = result.get("reservation") or {}
    return result.get("changed", False), result.get("code", held.get("state", "none"))


def used(modules: Modules) -> dict[str, int]:
    return {quota["tenant_id"]: quota["used"] for quota in modules.run("bc_fleet_info")["quotas"]}


def pool_ids(modules: Modules) -> dict[str, str]:
    """By owner."""
    return {pool["tenant_id"]: pool["id"] for pool in modules.run("bc_fleet_info")["pools"]}


def test_each_tenant_of_the_example_books_what_the_example_gives_it(modules_on_either: Modules) -> None:
    modules = modules_on_either
    modules.fleet.apply(TENANTS_AND_QUOTAS)
    for quota in TENANTS_AND_QUOTAS["quotas"]:
        tenant, pool, left = quota.get("tenantId", "platform"), quota["pool"], quota["gpus"]
        assert told(book(modules, tenant, pool=pool, gpus=left)) == (True, "pending"), quota
        assert told(book(modules, tenant, pool=pool, name="one-more", gpus=1)) == (False, "QUOTA_EXCEEDED"), quota
    assert told(book(modules, "globex", pool="acme-own")) == (False, "NOT_FOUND")


def test_a_tenant_books_and_gives_back_by_the_pools_name_and_by_its_id(fleet: Modules) -> None:
    platforms = pool_ids(fleet)["platform"]
    made = book(fleet)
    assert told(made) == (True, "pending")
    assert (made["reservation"]["tenant_id"], made["reservation"]["pool_id"]) == ("acme", platforms)
    again = book(fleet, pool=platforms)
    assert (again["changed"], again["reservation"]) == (False, made["reservation"])
    assert used(fleet) == {"platform": 0, "acme": 2}
    assert told(book(fleet, pool=platforms, state="absent")) == (True, "released")
    assert told(book(fleet, state="absent")) == (False, "released")
    assert used(fleet) == {"platform": 0, "acme": 0}


def test_two_tenants_and_the_owner_may_use_one_name(modules: Modules) -> None:
    modules.fleet.apply(with_quotas(platform=16, acme=8, globex=8))
    made = [book(modules, tenant)["reservation"]["id"] for tenant in ("platform", "acme", "globex")]
    assert len(set(made)) == 3
    assert told(book(modules, "acme", state="absent")) == (True, "released")
    assert used(modules) == {"platform": 2, "acme": 0, "globex": 2}


def test_check_mode_says_what_would_happen_in_anothers_pool_and_writes_nothing(fleet: Modules) -> None:
    rows = fleet.fleet.rows()
    assert told(book(fleet, check=True)) == (True, "none")
    assert told(book(fleet, gpus=9, check=True)) == (False, "QUOTA_EXCEEDED")
    assert fleet.fleet.rows() == rows
    book(fleet)
    rows = fleet.fleet.rows()
    assert told(book(fleet, check=True)) == (False, "pending")
    assert told(book(fleet, gpus=3, check=True)) == (False, "CONFLICT")
    assert told(book(fleet, state="absent", check=True)) == (True, "pending")
    assert fleet.fleet.rows() == rows


@pytest.mark.parametrize("state", ["present", "absent"])
def test_without_a_quota_a_pool_looks_as_if_there_were_none(fleet: Modules, state: str) -> None:
    platforms = pool_ids(fleet)["platform"]
    for pool, nothing in (("gpu-fleet", "no-such-pool"), (platforms, ANOTHER_POOL)):
        refused, unknown = (book(fleet, "globex", pool=asked, state=state) for asked in (pool, nothing))
        assert told(refused) == told(unknown) == (False, "NOT_FOUND")
        assert refused["msg"].replace(pool, nothing) == unknown["msg"]


def test_nobody_gets_at_a_tenants_booking_by_a_name_that_could_be_read_as_tenant_and_caller(fleet: Modules) -> None:
    caller = fleet.fleet.session.caller
    book(fleet)
    assert told(book(fleet, f"acme/{caller}", state="absent")) == (False, "NOT_FOUND")
    assert told(book(fleet, "acme\n", state="absent")) == (False, "NOT_FOUND")


class TestAfterTheQuotaIsGone:
    @pytest.fixture
    def fleet(self, fleet: Modules) -> Modules:
        """The fleet with a booking of acme's, whose quota was taken away since."""
        book(fleet)
        fleet.fleet.apply(with_quotas(platform=16), prune=True)
        return fleet

    def test_what_stands_is_found_and_given_back_once(self, fleet: Modules) -> None:
        assert told(book(fleet)) == (False, "pending")
        assert told(book(fleet, state="absent", check=True)) == (True, "pending")
        assert told(book(fleet, state="absent")) == (True, "released")
        assert told(book(fleet, state="absent")) == (False, "released")

    def test_nothing_new_is_booked_under_that_name_or_another(self, fleet: Modules) -> None:
        assert told(book(fleet, name="another")) == (False, "NOT_FOUND")
        book(fleet, state="absent")
        for check in (True, False):
            assert told(book(fleet, check=check)) == (False, "QUOTA_EXCEEDED")


class TestWhileThePoolIsTornDown:
    @pytest.fixture
    def fleet(self, modules: Modules) -> Modules:
        """A fleet whose only booking is acme's, and whose pool was pruned."""
        modules.fleet.join_all(with_quotas(platform=16, acme=8))
        assert told(book(modules)) == (True, "bound")
        modules.fleet.apply(without_pools(), prune=True)
        return modules

    def test_the_teardown_waits_for_the_tenants_booking_and_it_is_given_back_by_the_pools_name(
        self, fleet: Modules
    ) -> None:
        fleet.fleet.live(minutes=20)
        assert not fleet.fleet.has_nothing_to_do()
        assert told(book(fleet)) == (False, "bound")
        assert told(book(fleet, state="absent")) == (True, "released")
        fleet.fleet.live(until=fleet.fleet.has_nothing_to_do, minutes=60)
        assert fleet.fleet.has_nothing_to_do()

    def test_it_takes_no_more_of_the_tenants_bookings(self, fleet: Modules) -> None:
        assert told(book(fleet, name="another")) == (False, "NOT_FOUND")
        book(fleet, state="absent")
        assert told(book(fleet)) == (False, "INVALID_STATE")


class TestPoolsOfOneName:
    def test_the_tenants_own_goes_before_the_platforms_and_either_is_named_by_its_id(self, fleet: Modules) -> None:
        fleet.fleet.apply(pool_of("acme"))
        ids = pool_ids(fleet)
        assert book(fleet)["reservation"]["pool_id"] == ids["acme"]
        there = book(fleet, pool=ids["platform"])
        assert (there["changed"], there["reservation"]["pool_id"]) == (True, ids["platform"])
        assert book(fleet, "platform")["reservation"]["pool_id"] == ids["platform"]

    def test_what_stands_in_the_platforms_is_still_meant_when_the_tenant_declares_its_own(self, fleet: Modules) -> None:
        first = book(fleet)["reservation"]
        fleet.fleet.apply(pool_of("acme"))
        again = book(fleet)
        assert (again["changed"], again["reservation"]) == (False, first)
        assert told(book(fleet, state="absent")) == (True, "released")
        assert book(fleet)["reservation"]["pool_id"] == pool_ids(fleet)["acme"]

    def test_a_third_tenants_is_meant_where_neither_has_one_with_a_quota(self, fleet: Modules) -> None:
        fleet.fleet.apply(pool_of("acme"))
        assert book(fleet, "globex")["reservation"]["pool_id"] == pool_ids(fleet)["acme"]

    def test_two_third_tenants_are_told_apart_by_id(self, fleet: Modules) -> None:
        for owner in ("acme", "zenith"):
            fleet.fleet.apply(pool_of(owner))
        refused = book(fleet, "globex")
        assert told(refused) == (False, "INVALID_INPUT")
        assert "acme and zenith each have a pool of that name: give its id" in refused["msg"]
        ids = pool_ids(fleet)
        assert book(fleet, "globex", pool=ids["zenith"])["reservation"]["pool_id"] == ids["zenith"]
