# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The story, step by step: planned, made, booked, preempted, retired, unchanged, pruned; what is asked of each step."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.ids import NodeId
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.records import PoolNode
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.states import NodeState

from .clouds import NAMES
from .playbook import Ansible, Booking
from .records import Records
from .report import Report
from .stage import Stage

_LOOK_SECONDS = 0.5
"""Between two looks at the records, for progress."""

_JOIN_SECONDS = 60.0
"""How long the Nodes may take to join; they take a few seconds."""

_PREEMPTION_SECONDS = 120.0
"""How long it may take until the bookings on lost machines have ended: bcd has to be silent for half a minute."""


class Story:
    """One life of the fleet that a document declares.

    Attributes:
        result: what quickstart.json says so far.
    """

    def __init__(self, stage: Stage, ansible: Ansible, report: Report, document: Path) -> None:
        """Nothing has happened yet.

        Arguments:
            document: the example, which stays as it is.
        """
        self._stage = stage
        self._ansible = ansible
        self._report = report
        self._records = Records(stage.settings_file, stage.environment)
        self._declared: dict[str, Any] = json.loads(document.read_text(encoding="utf-8"))
        self._document = stage.document(self._declared, document.name)
        self._pools = [pool["name"] for pool in self._declared["pools"]]
        self.result: dict[str, Any] = {}

    def tell(self, told: str) -> None:
        """From the plan to nothing left.

        Arguments:
            told: what the document is called in the commands that are shown.
        """
        command = f"ansible-playbook playbooks/fleet.yml -e src={told}"
        self._report.step(f"{command} --check")
        self._report.plan(self._ansible.playbook(self._document, check=True)["plan"]["text"])
        self._report.step(command)
        self._converge()
        booked = self._book_spot_machines()
        broken = self._lose_machines()
        self._report.step("Meanwhile, book a GPU of a machine that stays, and give it back (bc_reservation)")
        for state in ("present", "absent"):
            for booking in self._ansible.bookings("steady-job", pools=self._pools[:1], state=state):
                self._say(booking)
        self._report.step("Meanwhile, the same playbook again")
        changed = bool(self._ansible.playbook(self._document)["changed"])
        (self._report.ill if changed else self._report.well)(f"changed={int(changed)}")
        self.result["second_run_changed"] = int(changed)
        self._await_replacements(booked, broken)
        self._prune()

    def _converge(self) -> None:
        with self._progress():
            self._ansible.playbook(self._document)
        self._until(self._all_joined, seconds=_JOIN_SECONDS, what="every Node joins")
        kept = ("provider", "state", "nodes_listed", "nodes_joined")
        self.result["pools"] = [
            {"name": view["pool"], **{key: view[key] for key in kept}} for view in self._records.pools()
        ]
        self._report.well("every Node that the clusters list has joined its pool")

    def _book_spot_machines(self) -> list[Booking]:
        self._report.step("Book a GPU of a Spot machine in each pool (bc_reservation)")
        booked = self._ansible.bookings("spot-job", pools=self._pools, spot=True)
        for booking in booked:
            self._say(booking)
        return booked

    def _lose_machines(self) -> PoolNode:
        """The providers take their Spot machines back, and a machine of the last pool breaks down, which is no Spot."""
        self._report.step("The providers take all their Spot machines back, and another machine breaks down")
        machines = self._stage.preempt()
        broken = next(node for node in self._records.machines(self._pools[-1]).nodes if not node.spot)
        self._stage.lose(_name(broken))
        self._report.line(f"{len(machines)} Spot machines go when their notice is over: their node pools replace them.")
        self._report.line(f"{_name(broken)} ({self._pools[-1]}), which is no Spot machine, is gone without a word.")
        self._report.line("A machine is retired when its Node is gone and its bcd has been silent for half a minute:")
        self._report.line("then what was booked on it ends, and is refunded once.")
        return broken

    def _await_replacements(self, booked: list[Booking], broken: PoolNode) -> None:
        self._report.step("Wait until it is certain that the lost machines are gone")
        sizes = {view["name"]: view["nodes_listed"] for view in self.result["pools"]}

        def replaced() -> bool:
            ended = all(self._records.booking("spot-job", pool=pool)["state"] == "preempted" for pool in self._pools)
            gone = broken.id in self._retired(self._pools[-1])
            return ended and gone and self._all_joined() and self._sizes() == sizes

        self._until(replaced, seconds=_PREEMPTION_SECONDS, what="every lost machine is retired and replaced")
        for pool in self._pools:
            self._say(self._records.booking("spot-job", pool=pool))
        held = {pool: self._records.machines(pool).held_gpus for pool in self._pools}
        if any(held.values()):
            raise RuntimeError(f"what the lost bookings held was not refunded once: {held} GPUs are held")
        self._report.well("each of them was refunded once: no GPU of the quotas is held any more")
        self._report.well(f"node {_name(broken)} is retired: its Node and its bcd are gone; nothing was booked on it")
        self._report.well("new machines have joined in their place")
        self.result["preempted"] = len(booked)
        self.result["retired"] = sum(len(self._retired(pool)) for pool in self._pools)

    def _retired(self, pool: str) -> set[NodeId]:
        return {node.id for node in self._records.machines(pool).nodes if node.state == NodeState.RETIRED}

    def _prune(self) -> None:
        self._report.step("Take the pools out of the document and prune")
        smaller = self._stage.document({**self._declared, "pools": [], "quotas": []}, "without-pools.json")
        with self._progress():
            pruned = self._ansible.playbook(smaller, prune=True)
        self._report.plan(pruned["plan"]["text"])
        leftovers = self._stage.inventory()
        for item in leftovers:
            self._report.ill(f"left behind: {item['kind']} {item['id']} at {item['cloud']}")
        if not leftovers:
            where = [NAMES[account["provider"]] for account in self._declared["providerAccounts"]]
            self._report.well(f"nothing is left at {', '.join(where)}: no cluster, no node pool, no machine")
        self.result["leftovers"] = len(leftovers)

    def _say(self, booking: Booking) -> None:
        if booking["state"] == "bound":
            self._report.well(f"{booking['id']} holds {', '.join(booking['device_ids'])}")
            return
        why = f": {booking['message']}" if booking["message"] else ""
        self._report.well(f"{booking['id']} is {booking['state']}{why}")

    def _all_joined(self) -> bool:
        views = self._records.pools()
        joined = [view["nodes_listed"] and view["nodes_joined"] == view["nodes_listed"] for view in views]
        return bool(views) and all(joined)

    def _sizes(self) -> dict[str, int]:
        return {view["pool"]: view["nodes_listed"] for view in self._records.pools()}

    def _until(self, reached: Callable[[], bool], *, seconds: float, what: str) -> None:
        """Wait, and say where the pools stand."""
        until = time.monotonic() + seconds
        while not reached():
            self._look()
            if time.monotonic() > until:
                raise TimeoutError(f"it took longer than {seconds:g} s until {what}")
            time.sleep(_LOOK_SECONDS)
        self._look()

    def _look(self) -> None:
        for view in self._records.pools():
            self._report.substrate(view)

    @contextmanager
    def _progress(self) -> Iterator[None]:
        """Say where the pools stand while something else runs."""
        over = threading.Event()

        def look() -> None:
            while not over.wait(_LOOK_SECONDS):
                self._look()

        thread = threading.Thread(target=look, name="progress", daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()


def _name(node: PoolNode) -> str:
    """What the cluster calls it."""
    return node.node_name or node.hostname
