# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The status page as a real browser shows it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By

from ansible_collections.better_compute.fleet.daemon.api import ApiServer
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.states import SubstrateState
from ansible_collections.better_compute.fleet.tests.support.browser import running_browser
from ansible_collections.better_compute.fleet.tests.support.node_pool_desk import Desk

from .conftest import STATUS
from .test_status_page import HOSTILE, stand, token_of

pytestmark = pytest.mark.browser

LONG = "https://a-very-long-address.example/" + "x" * 300


@pytest.fixture
def chrome(tmp_path: Path) -> Iterator[Chrome]:
    with running_browser(tmp_path / "profile") as running:
        yield running


def cells(chrome: Chrome) -> list[str]:
    return [cell.text for cell in chrome.find_elements(By.CSS_SELECTOR, "tbody tr > *")]


def color(chrome: Chrome, selector: str) -> str:
    return str(chrome.find_element(By.CSS_SELECTOR, selector).value_of_css_property("color"))


def test_a_person_sees_how_the_fleet_stands_and_what_has_changed(chrome: Chrome, api: ApiServer, desk: Desk) -> None:
    stand(desk, state=SubstrateState.ERROR, message=HOSTILE, nodes_listed=4, nodes_joined=3)
    chrome.get(f"https://fleet:{token_of(desk, STATUS)}@127.0.0.1:{api.port}/status")
    assert chrome.title == "0 of 1 pools ready - bc-fleetd"
    assert cells(chrome) == ["gpu-fleet", "platform", "aws", "error", "3", "4", "-", "due", HOSTILE]
    in_error = color(chrome, ".state")
    assert in_error != color(chrome, ".number")  # the style sheet is let in, and by its digest only

    stand(desk, state=SubstrateState.READY, message="", nodes_listed=4, nodes_joined=4, observed_generation=1)
    chrome.refresh()
    assert chrome.title == "1 of 1 pools ready - bc-fleetd"
    assert cells(chrome) == ["gpu-fleet", "platform", "aws", "ready", "4", "4", "-", "due", ""]
    assert color(chrome, ".state") != in_error
    # Nothing was refused, and nothing is missing.
    assert chrome.get_log("browser") == []  # type: ignore[no-untyped-call]  # Selenium's own type is missing


def test_on_a_telephone_the_page_is_as_wide_as_the_screen_and_a_table_scrolls_by_itself(
    chrome: Chrome, api: ApiServer, desk: Desk
) -> None:
    stand(desk, state=SubstrateState.ERROR, message=LONG)
    chrome.set_window_size(400, 800)
    chrome.get(f"https://fleet:{token_of(desk, STATUS)}@127.0.0.1:{api.port}/status")
    wide, seen = chrome.execute_script("return [document.documentElement.scrollWidth, window.innerWidth]")
    assert wide <= seen
    assert cells(chrome)[-1] == LONG
