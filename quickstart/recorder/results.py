# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""An Ansible callback that keeps each task's result as a line of JSON, for the quickstart's report."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from ansible.plugins.callback import CallbackBase

DOCUMENTATION = r"""
name: results
type: aggregate
short_description: Keep each task's result as a line of JSON
description:
  - Writes to the file that the environment variable E(QUICKSTART_RESULTS) names.
"""


class CallbackModule(CallbackBase):
    """Writes what each task returned."""

    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "aggregate"
    CALLBACK_NAME = "results"
    CALLBACK_NEEDS_ENABLED = True

    def v2_runner_on_ok(self, result: Any) -> None:
        """A task that did its work."""
        self._keep(result, failed=False)

    def v2_runner_on_failed(self, result: Any, ignore_errors: bool = False) -> None:
        """A task that failed."""
        self._keep(result, failed=not ignore_errors)

    def _keep(self, result: Any, *, failed: bool) -> None:
        line = {"action": result._task.action, "failed": failed, "result": result._result}
        with Path(os.environ["QUICKSTART_RESULTS"]).open("a", encoding="utf-8") as file:
            file.write(json.dumps(line, default=str) + "\n")
