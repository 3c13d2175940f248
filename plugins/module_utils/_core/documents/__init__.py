# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What people write: the FleetConfig document and the settings. Text in, plain valid values out.

Nothing here knows records, providers or Ansible. pydantic is used in this room only.
"""

from __future__ import annotations

from .load import load_file, load_stream, load_text, parse_document
from .schema import document_schema
from .settings import Settings, load_settings
from .written import document_data, edited_substrate

__all__ = [
    "Settings",
    "document_data",
    "document_schema",
    "edited_substrate",
    "load_file",
    "load_settings",
    "load_stream",
    "load_text",
    "parse_document",
]
