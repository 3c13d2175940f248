# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Small parts of the DOKS driver: versions, sizes, tokens, and the reading that is kept."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Thread

import pytest

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import (
    InvalidRequest,
    PermissionDenied,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.doks.api import open_api
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.doks.credentials import read_token
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.doks.last_reading import (
    STAYS_FRESH,
    LastReading,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.doks.settings import DoksSettings
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.doks.sizes import gpus_of
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.doks.versions import next_step
from ansible_collections.better_compute.fleet.tests.support.doks_subject import CLUSTER

NOW = datetime(2026, 11, 30, tzinfo=UTC)
OFFERED = ["1.34.1-do.0", "1.33.6-do.0", "1.33.10-do.1", "1.32.11-do.0"]


@pytest.mark.parametrize(
    ("wanted", "step"),
    [("1.33", "1.33.10-do.1"), ("1.34", "1.34.1-do.0"), ("1.33.6-do.0", "1.33.6-do.0"), ("1.32", None)],
)
def test_the_next_step_is_what_is_offered_nearest_to_what_is_wanted(wanted: str, step: str | None) -> None:
    assert next_step("1.32.10-do.0", wanted, OFFERED) == step


def test_no_step_where_nothing_is_offered() -> None:
    assert next_step("1.32.10-do.0", "1.34", []) is None


@pytest.mark.parametrize(
    ("size", "gpus"),
    [
        ("gpu-h100x1-80gb", 1),
        ("gpu-h100x8-640gb", 8),
        ("gpu-mi300x8-1536gb", 8),
        ("gpu-mi300x1-192gb", 1),
        ("gpu-4000adax1-20gb", 1),
        ("gpu-h200x8-1128gb-contracted", 8),
        ("gpu-of-next-year", None),
        ("s-2vcpu-4gb", 0),
    ],
)
def test_a_sizes_slug_says_how_many_gpus_it_has(size: str, gpus: int | None) -> None:
    assert gpus_of(size) == gpus


def test_a_token_comes_from_the_environment_or_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLEET_TOKEN", "dop_v1_a")
    file = tmp_path / "token"
    file.write_text("dop_v1_b\n")
    assert read_token({"env": "FLEET_TOKEN"}).reveal() == "dop_v1_a"
    assert read_token({"file": str(file)}).reveal() == "dop_v1_b"


@pytest.mark.parametrize("text", ["", "\n", "two words", "dop_v1_é", "dop\nv1"])
def test_what_is_no_token_is_refused_and_not_quoted(text: str, tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text(text)
    with pytest.raises(PermissionDenied) as caught:
        read_token({"file": str(file)})
    assert not text.strip() or text.strip() not in str(caught.value)


def test_a_token_that_is_not_there_is_told_with_its_place(tmp_path: Path) -> None:
    for source, place in (({"env": "NO_SUCH_TOKEN"}, "NO_SUCH_TOKEN"), ({"file": str(tmp_path / "no")}, "no")):
        with pytest.raises(PermissionDenied, match=place):
            read_token(source)


def test_no_token_is_sent_over_plain_http_or_past_a_ca_file_that_does_not_exist(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text("dop_v1_x")
    credential = {"file": str(file)}
    for settings in (
        DoksSettings(region="nyc2", credential=credential, endpoint_url="http://127.0.0.1:1"),
        DoksSettings(region="nyc2", credential=credential, ca_file=str(tmp_path / "no.pem")),
    ):
        with pytest.raises(InvalidRequest):
            open_api(settings)


def test_settings_without_a_region_are_refused() -> None:
    with pytest.raises(InvalidRequest, match="region"):
        DoksSettings.of({"credential": {"env": "X"}})


def test_a_reading_is_given_out_once_while_it_is_fresh_and_to_its_own_thread() -> None:
    last = LastReading()
    last.keep(CLUSTER, {"id": "a"}, NOW)
    taken: list[object] = []
    other = Thread(target=lambda: taken.append(last.take(CLUSTER, NOW)))
    other.start()
    other.join()
    assert taken == [None]
    assert last.take(CLUSTER, NOW + STAYS_FRESH) == {"id": "a"}
    assert last.take(CLUSTER, NOW) is None


@pytest.mark.parametrize("age", [STAYS_FRESH + timedelta(seconds=1), timedelta(seconds=-1)])
def test_an_old_reading_and_one_from_the_future_are_not_given_out(age: timedelta) -> None:
    last = LastReading()
    last.keep(CLUSTER, {"id": "a"}, NOW)
    assert last.take(CLUSTER, NOW + age) is None


def test_what_was_forgotten_is_not_given_out() -> None:
    last = LastReading()
    last.keep(CLUSTER, {"id": "a"}, NOW)
    last.forget()
    assert last.take(CLUSTER, NOW) is None
