# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The option `--settings`, which every command has that reads the settings."""

from __future__ import annotations

import argparse

from ansible_collections.better_compute.fleet.plugins.module_utils._core.documents.settings import SYSTEM_FILE


def add_settings_option(parser: argparse.ArgumentParser) -> None:
    """Give a command the option."""
    text = f"the settings file; else what BC_FLEET_SETTINGS names, else {SYSTEM_FILE} where there is one"
    parser.add_argument("--settings", metavar="FILE", help=text)
