# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The process's log, put back as it was before: what the command line sets up would else hide from later tests."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def log_kept() -> Iterator[None]:
    """Handlers and levels are afterwards what they were before, if the root logger's have changed."""
    root = logging.getLogger()
    handlers, level, levels = root.handlers[:], root.level, _levels()
    yield
    if root.handlers == handlers and root.level == level:
        return
    from ansible_collections.better_compute.fleet.daemon.logs import QUIET

    logging.captureWarnings(False)
    root.handlers[:] = handlers
    root.setLevel(level)
    # A library that was imported meanwhile keeps the level that it gave itself: else SQLAlchemy tells every statement.
    for name, before in {**dict.fromkeys(QUIET, logging.NOTSET), **levels}.items():
        logging.getLogger(name).setLevel(before)


def _levels() -> dict[str, int]:
    """The level of each logger that there is."""
    found = logging.root.manager.loggerDict.items()
    return {name: logger.level for name, logger in found if isinstance(logger, logging.Logger)}
