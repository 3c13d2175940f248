# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Looks first, on the target, whether bc_nodepool has anything to do: most runs have not, and end there.

bc_nodepool names every provider's driver, so Ansible parses, packs and ships all of them with it, for seconds.
bc_nodepool_plan names none.
"""

from __future__ import annotations

from typing import Any

from ansible.plugins.action import ActionBase

_MODULE = "better_compute.fleet.bc_nodepool"
_LOOK = "better_compute.fleet.bc_nodepool_plan"


class ActionModule(ActionBase):
    """Runs bc_nodepool_plan, and bc_nodepool where that leaves something to do."""

    _supports_check_mode = True
    _supports_async = True

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Look, and then converge if need be. A task in the background does both in one."""
        result: dict[str, Any] = super().run(tmp, task_vars)
        in_background = bool(self._task.async_val)
        if not in_background:
            looked: dict[str, Any] = self._execute_module(module_name=_LOOK, task_vars=task_vars)
            settled = looked.pop("settled", False)
            # The module decides once more, in the transaction that records: the records may move in between.
            if settled or looked.get("failed") or self._task.check_mode:
                return result | looked
        converged: dict[str, Any] = self._execute_module(
            module_name=_MODULE, task_vars=task_vars, wrap_async=in_background
        )
        return result | converged
