# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs the collection's modules in the test's own process, as Ansible would, on a life's virtual clock."""

from __future__ import annotations

import contextlib
import io
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from threading import Event
from typing import Any

import pytest
from ansible.module_utils.common.parameters import PASS_VARS
from ansible.module_utils.testing import patch_module_args

from ansible_collections.better_compute.fleet.plugins.module_utils._core.ansible_io import edge
from ansible_collections.better_compute.fleet.plugins.module_utils._core.documents.settings import Settings
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.session import (
    Drivers,
    IfMissing,
    Session,
    no_drivers,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.store import open_for_reading, open_store
from ansible_collections.better_compute.fleet.plugins.modules import (
    bc_cluster,
    bc_cluster_credentials,
    bc_cluster_info,
    bc_fleet,
    bc_fleet_info,
    bc_node_info,
    bc_nodepool,
    bc_nodepool_info,
    bc_reservation,
    bc_reservation_info,
    bc_substrate,
    bc_substrate_info,
)

from .life.fleet_at_hand import Fleet

_MODULES = {
    module.__name__.rpartition(".")[2]: module.main
    for module in (
        bc_cluster,
        bc_cluster_credentials,
        bc_cluster_info,
        bc_fleet,
        bc_fleet_info,
        bc_node_info,
        bc_nodepool,
        bc_nodepool_info,
        bc_reservation,
        bc_reservation_info,
        bc_substrate,
        bc_substrate_info,
    )
}

# From 2.21 on, ansible-core leaves the invocation out of results unless it is asked for.
_INVOCATION = {"_ansible_inject_invocation": True} if "inject_invocation" in PASS_VARS else {}

Result = dict[str, Any]


@dataclass(slots=True, kw_only=True)
class Modules:
    """The modules on one fleet.

    Attributes:
        before_sleep: called whenever a module is about to wait: for what happens meanwhile.
        told: everything that modules printed, for looking for what must not be in it.
    """

    fleet: Fleet
    before_sleep: Callable[[], None] = lambda: None
    told: list[str] = field(default_factory=list)

    def run(self, module: str, *, check: bool = False, **arguments: Any) -> Result:
        """Run a module to its end; its result, with `failed` False where it did not fail."""
        printed = io.StringIO()
        asked = {"_ansible_check_mode": check, "_ansible_diff": True, **_INVOCATION}
        with (
            patch_module_args({**arguments, **asked}),
            contextlib.redirect_stdout(printed),
            pytest.raises(SystemExit) as left,
        ):
            _MODULES[module]()
        self.told.append(printed.getvalue())
        result: Result = json.loads(printed.getvalue())
        assert left.value.code == (1 if result.get("failed") else 0)
        return {"failed": False, **result}

    def writes(self) -> int:
        """Requests that changed something, at the provider and in the clusters."""
        return len(self.fleet.scene.engine.log.writes())

    @contextlib.contextmanager
    def session(self, settings: Settings, *, drivers: Drivers, if_missing: IfMissing) -> Iterator[Session]:
        """What a module opens: as in earnest, on the scene's clock."""
        at_hand = self.fleet.session

        def sleep(seconds: float) -> None:
            self.before_sleep()
            at_hand.sleep(seconds)

        open_one = open_for_reading if if_missing == "empty" else open_store
        store = open_one(settings.store.database_url, clock=at_hand.clock)
        try:
            yield replace(
                at_hand,
                store=store,
                settings=settings,
                caller=settings.operator or at_hand.caller,
                holder="module",
                sleep=sleep,
                stopping=Event(),
                open_driver=no_drivers(at_hand.clock) if drivers is no_drivers else at_hand.open_driver,
            )
        finally:
            store.close()


def modules_on(fleet: Fleet, monkeypatch: pytest.MonkeyPatch, **environment: str) -> Modules:
    """The modules on a fleet's scene.

    Arguments:
        environment: settings that differ from the scene's; an empty one counts as none.
    """
    for name, value in {**fleet.scene.environment, **environment}.items():
        monkeypatch.setenv(name, value)
    modules = Modules(fleet=fleet)
    monkeypatch.setattr(edge, "open_session", modules.session)
    return modules
