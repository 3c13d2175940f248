# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every file of documents loads without pydantic, and its use then says what is missing."""

from __future__ import annotations

import subprocess
import sys

_PROGRAM = """
import sys
sys.modules["pydantic"] = None
sys.modules["yaml"] = None
from ansible_collections.better_compute.fleet.plugins.module_utils._core.documents import load, schema, settings
for call in (lambda: load.parse_document({}), schema.document_schema, settings.load_settings):
    try:
        call()
    except ModuleNotFoundError as error:
        print(error.name)
"""


def test_documents_load_without_pydantic_and_say_that_it_is_missing() -> None:
    ran = subprocess.run([sys.executable, "-c", _PROGRAM], capture_output=True, text=True, check=False)
    assert (ran.stdout.split(), ran.stderr) == (["pydantic"] * 3, "")
