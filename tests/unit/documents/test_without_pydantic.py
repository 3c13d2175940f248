# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every file of documents loads without pydantic: settings need none, and a document's use says what is missing."""

from __future__ import annotations

import subprocess
import sys

_PROGRAM = """
import sys
sys.modules["pydantic"] = None
sys.modules["yaml"] = None
from ansible_collections.better_compute.fleet.plugins.module_utils._core.documents import load, schema, settings
print(settings.load_settings(environ={}).reconcile.settled_seconds)
for call in (lambda: load.parse_document({}), schema.document_schema):
    try:
        call()
    except ModuleNotFoundError as error:
        print(error.name)
"""


def test_without_pydantic_settings_are_read_and_documents_say_that_it_is_missing() -> None:
    ran = subprocess.run([sys.executable, "-c", _PROGRAM], capture_output=True, text=True, check=False)
    assert (ran.stdout.split(), ran.stderr) == (["300", "pydantic", "pydantic"], "")
