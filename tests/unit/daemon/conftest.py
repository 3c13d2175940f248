# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The process's log as it was before: the command line sets it up for its process."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def _log_as_before() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    levels = _levels()
    yield
    logging.captureWarnings(False)
    root.handlers[:] = handlers
    root.setLevel(level)
    # A library that was imported meanwhile keeps the level that it gave itself: else SQLAlchemy tells every statement.
    for name, before in levels.items():
        logging.getLogger(name).setLevel(before)


def _levels() -> dict[str, int]:
    """The level of each logger that there is."""
    return {
        name: found.level
        for name, found in logging.root.manager.loggerDict.items()
        if isinstance(found, logging.Logger)
    }
