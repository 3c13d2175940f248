# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The document that a person names on the command line: a file, or what comes from standard input."""

from __future__ import annotations

import sys
from pathlib import Path

from ansible_collections.better_compute.fleet.plugins.module_utils._core.documents.load import (
    load_stream,
    parse_document,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.declared import FleetConfig

STANDARD_INPUT = "-"


def called(name: str) -> str:
    """What a person is told of: the file, or that it is standard input."""
    return "standard input" if name == STANDARD_INPUT else name


def read_document(name: str) -> FleetConfig:
    """Read and check a document.

    Arguments:
        name: a file; STANDARD_INPUT for what comes from there.

    Raises:
        OSError: the system does not let us read it.
        InvalidInput: it is no document, or not a valid one: everything that is wrong with it.
    """
    if name == STANDARD_INPUT:
        return parse_document(load_stream(sys.stdin.buffer, called(name)))
    with Path(name).open("rb") as stream:
        return parse_document(load_stream(stream, name))
