# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the doctor says of an account on each provider: credential well, missing, refused; throttled, out of reach."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import pytest

from ansible_collections.better_compute.fleet.emulators.engine import Error
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.findings import Check, Verdict
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.ids import AccountId
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.records import AccountRecord
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.checks.accounts import (
    check_accounts,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.checks.files import (
    check_credential_files,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.contract import Driver
from ansible_collections.better_compute.fleet.plugins.module_utils._core.store import fleet as fleet_rows
from ansible_collections.better_compute.fleet.tests.support.life.clouds import AWS, DOKS, GKE, TOKEN_VARIABLE, Cloud
from ansible_collections.better_compute.fleet.tests.support.life.fleet_on_clouds import FleetOnClouds

THROTTLED = {
    AWS: Error(status=400, code="ThrottlingException", message="Rate exceeded"),
    GKE: Error(status=429, code="RESOURCE_EXHAUSTED", message="Quota exceeded for 'Requests per minute'"),
    DOKS: Error(status=429, code="too_many_requests", message="API rate limit exceeded."),
}
DOWN = {
    AWS: Error(status=503, code="ServiceUnavailableException", message="come back later"),
    GKE: Error(status=503, code="UNAVAILABLE", message="come back later"),
    DOKS: Error(status=503, code="server_error", message="come back later"),
}
SECRET = "a-secret-that-opens-nothing"


@pytest.fixture(params=[AWS, GKE, DOKS], ids=["eks", "gke", "doks"])
def cloud(request: pytest.FixtureRequest) -> Cloud:
    """All three."""
    found: Cloud = request.param
    return found


@pytest.fixture
def declared(clouds: FleetOnClouds, cloud: Cloud) -> FleetOnClouds:
    """A fleet whose one account is recorded, and was never used."""
    clouds.apply(cloud, cloud.flavor("h100"))
    return clouds


def accounts(clouds: FleetOnClouds) -> tuple[AccountRecord, ...]:
    with clouds.fleet.session.store.read() as tx:
        return fleet_rows.accounts(tx)


def checked(clouds: FleetOnClouds, *, seconds: float = 30) -> Check:
    """The line about the one account. Retries are not waited for."""

    def impatient(account: AccountRecord) -> Driver:
        driver = clouds.fleet.session.open_driver(account)
        driver._sleep = lambda _seconds: None  # type: ignore[attr-defined]  # of every driver; the contract has no time
        return driver

    [check] = check_accounts(accounts(clouds), (), open_driver=impatient, seconds=seconds).values()
    assert SECRET not in repr(check)
    return check


def test_a_credential_that_is_taken_costs_a_read_or_two(declared: FleetOnClouds, cloud: Cloud) -> None:
    mark = declared.fleet.scene.engine.log.mark
    check = checked(declared)
    assert (check.verdict, check.message) == (Verdict.OK, f"{cloud.provider} takes the credential")
    assert 1 <= len(declared.asked(cloud, after=mark)) <= 3
    assert declared.asked(cloud, after=mark, mutating=True) == ()


def test_a_credential_that_is_not_there_is_named_by_its_place(
    declared: FleetOnClouds, cloud: Cloud, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", TOKEN_VARIABLE):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "nobody"))
    for file in tmp_path.glob("gcp.json"):
        file.unlink()
    check = checked(declared)
    assert check.verdict == Verdict.PROBLEM
    assert check.message.startswith("credentials are missing: ")
    place = {AWS: "the provider's own chain", GKE: "gcp.json", DOKS: TOKEN_VARIABLE}[cloud]
    assert place in check.cure


def test_a_credential_that_is_refused_says_what_it_needs(
    declared: FleetOnClouds, cloud: Cloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    monkeypatch.setenv(TOKEN_VARIABLE, SECRET)
    if cloud is GKE:
        refused = Error(status=403, code="PERMISSION_DENIED", message="Required container.clusters.get permission")
        declared.fleet.scene.engine.faults.add("gcp", "*", refused, times=None)
    check = checked(declared)
    assert check.verdict == Verdict.PROBLEM
    assert check.message.startswith(f"{cloud.provider} refuses the credential: ")
    assert "docs/permissions" in check.cure


def test_a_provider_that_is_asked_too_often_is_a_warning(declared: FleetOnClouds, cloud: Cloud) -> None:
    declared.fleet.scene.engine.faults.add(cloud.emulated, "*", THROTTLED[cloud], times=None)
    check = checked(declared)
    assert check.verdict == Verdict.WARNING
    assert check.message.startswith(f"{cloud.provider} answers that it is asked too often: ")


def test_a_provider_that_is_out_of_reach_is_a_problem(declared: FleetOnClouds, cloud: Cloud) -> None:
    declared.fleet.scene.engine.faults.add(cloud.emulated, "*", DOWN[cloud], times=None)
    check = checked(declared)
    assert check.verdict == Verdict.PROBLEM
    assert check.message.startswith(f"{cloud.provider} is out of reach: ")
    assert "come back later" in check.message


def test_a_provider_that_hangs_is_left_behind_in_time(declared: FleetOnClouds, cloud: Cloud) -> None:
    begun = time.monotonic()

    def hanging(_account: AccountRecord) -> Driver:
        time.sleep(5)
        raise AssertionError

    [check] = check_accounts(accounts(declared), (), open_driver=hanging, seconds=0.1).values()
    assert check.message == f"{cloud.provider} did not answer within 0 s"
    assert time.monotonic() - begun < 4


def test_a_library_that_is_not_installed_is_named(declared: FleetOnClouds, cloud: Cloud) -> None:
    library = {AWS: "boto3", GKE: "google.cloud.container_v1", DOKS: "pydo"}[cloud]

    def bare(_account: AccountRecord) -> Driver:
        raise ModuleNotFoundError(f"No module named {library!r}", name=library)

    [check] = check_accounts(accounts(declared), (), open_driver=bare).values()
    installed = {AWS: "boto3", GKE: "google-cloud-container", DOKS: "pydo"}[cloud]
    assert check.message == f"the library for {cloud.provider} is not installed here: {installed}"
    assert check.cure == f"install {installed} for the Python that runs bc-fleetd"


def test_a_fault_of_our_own_is_told_by_kind_and_hides_no_other_account(declared: FleetOnClouds, cloud: Cloud) -> None:
    [account] = accounts(declared)
    broken = replace(account, id=AccountId("acct_broken"), name="aaa")

    def one_breaks(asked: AccountRecord) -> Driver:
        if asked.name == "aaa":
            raise ValueError(SECRET)
        return declared.fleet.session.open_driver(asked)

    first, second = check_accounts([account, broken], (), open_driver=one_breaks).values()
    assert (first.about, first.message) == ("account aaa", "a fault of bc-fleetd's own: ValueError")
    assert second.verdict == Verdict.OK


def test_a_key_file_that_others_can_read_is_a_problem(clouds: FleetOnClouds, tmp_path: Path) -> None:
    clouds.apply(GKE, GKE.flavor("h100"))
    key = tmp_path / "gcp.json"
    key.chmod(0o644)
    [check] = check_credential_files(accounts(clouds))
    assert (check.about, check.verdict) == (f"account {GKE.provider}", Verdict.PROBLEM)
    assert check.cure == f"run `chmod o= {key}`"
    key.chmod(0o600)
    [check] = check_credential_files(accounts(clouds))
    assert check.verdict == Verdict.OK
