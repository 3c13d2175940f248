# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A real browser, without a window: Chromium and its driver, as they are installed on the machine."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from selenium.webdriver import Chrome, ChromeOptions, ChromeService

PROGRAMS = ("chromium", "chromedriver")
"""Debian's packages chromium and chromium-driver."""

_FLAGS = (
    "--headless",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    # It looks for news of its maker's at every start, which no test waits for.
    *("--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"),
)


class NoBrowser(Exception):
    """There is none on this machine; the text says how to get one."""


def find() -> tuple[str, str]:
    """Where browser and driver are.

    Raises:
        NoBrowser: one of them is missing.
    """
    found = {name: shutil.which(name) for name in PROGRAMS}
    browser, driver = (found[name] or "" for name in PROGRAMS)
    if not browser or not driver:
        missing = ", ".join(name for name, path in found.items() if path is None)
        raise NoBrowser(f"no {missing} on PATH: `make browser` installs them on Debian, as root")
    return browser, driver


@contextmanager
def running_browser(folder: Path) -> Iterator[Chrome]:
    """A browser with a fresh profile in this folder, which takes any certificate. It has ended when the block ends.

    Raises:
        NoBrowser: there is none.
    """
    browser, driver = find()
    options = ChromeOptions()
    options.binary_location = browser
    options.accept_insecure_certs = True
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    for flag in (*_FLAGS, f"--user-data-dir={folder}"):
        options.add_argument(flag)
    if os.geteuid() == 0:
        options.add_argument("--no-sandbox")  # it refuses to have one as root
    chrome = Chrome(options=options, service=ChromeService(driver))
    try:
        yield chrome
    finally:
        chrome.quit()
