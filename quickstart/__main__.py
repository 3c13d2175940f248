# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The story: one document becomes pools of GPUs on the emulated cloud, one GPU is booked, and all of it goes again.

Writes quickstart.json into build/ (or the folder that is named): {pools: [{name, provider, state, nodes_listed,
nodes_joined}], second_run_changed, leftovers, seconds}. Ends with 0 when everything held.
"""

from __future__ import annotations

import argparse
import json
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ansible_collections.better_compute.fleet.plugins.module_utils._core.documents.settings import load_settings
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.session import open_session
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.substrates import list_substrates

from .playbook import Ansible, AnsibleFailed
from .processes import Interrupts
from .report import Report
from .stage import Stage

_CHECKOUT = Path(__file__).resolve().parent.parent
_DOCUMENT = _CHECKOUT / "examples" / "fleet.json"
_POOL = "gpu-fleet"

_LOOK_SECONDS = 0.5
"""Between two looks at the records, for progress."""

_JOIN_SECONDS = 60.0
"""How long the Nodes may take to join; they take a few seconds."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Tell the whole story; the exit status."""
    parser = argparse.ArgumentParser(prog="quickstart", description="The whole life of a fleet on an emulated cloud.")
    parser.add_argument("--into", type=Path, default=_CHECKOUT / "build", help="folder for the result and the logs")
    into: Path = parser.parse_args(arguments).into.resolve()
    report = Report()
    report.title("better_compute.fleet: one document, a pool of GPUs, and nothing left behind (on an emulated AWS)")
    report.step("Start the emulated cloud and bc-fleetd")
    try:
        with Stage(into / "quickstart", Interrupts()) as stage:
            result = _life(stage, Ansible(stage, _CHECKOUT), report)
    except KeyboardInterrupt:
        report.ill("interrupted: everything that was started has been stopped")
        return 130
    except (AnsibleFailed, RuntimeError, TimeoutError) as error:
        report.lines(str(error).splitlines())
        report.ill("the quickstart failed; everything that was started has been stopped")
        return 1
    result["seconds"] = report.seconds
    (into / "quickstart.json").write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    held = not result["second_run_changed"] and not result["leftovers"]
    report.step("Everything held." if held else "Not everything held: see above.")
    report.line(
        f"Result: {_told(into / 'quickstart.json')}. Logs, settings and records: {_told(into / 'quickstart')}/."
    )
    return 0 if held else 1


def _told(path: Path) -> Path:
    return path.relative_to(_CHECKOUT) if path.is_relative_to(_CHECKOUT) else path


def _life(stage: Stage, ansible: Ansible, report: Report) -> dict[str, Any]:
    command = f"ansible-playbook playbooks/fleet.yml -e src={_DOCUMENT.relative_to(_CHECKOUT)}"
    report.step(f"{command} --check")
    report.plan(ansible.playbook(_DOCUMENT, check=True)["plan"]["text"])

    report.step(command)
    with _progress(stage, report):
        ansible.playbook(_DOCUMENT)
    _wait_for_joined(stage, report)
    pools = _pools(stage)
    report.well("every Node that the cluster lists has joined the pool")

    report.step("Book a GPU, and give it back (bc_reservation)")
    booked = ansible.module("bc_reservation", {"name": "first-job", "pool": _POOL, "gpus": 1})["reservation"]
    report.well(f"{booked['id']} holds {', '.join(booked['device_ids'])} of {booked['node_id']}")
    released = ansible.module("bc_reservation", {"name": "first-job", "pool": _POOL, "state": "absent"})["reservation"]
    report.well(f"{released['id']} is {released['state']}")

    report.step("The same playbook again")
    second = ansible.playbook(_DOCUMENT)
    (report.ill if second["changed"] else report.well)(f"changed={int(second['changed'])}")

    report.step("Take the pool out of the document and prune")
    smaller = _without_pools(stage)
    with _progress(stage, report):
        pruned = ansible.playbook(smaller, prune=True)
    report.plan(pruned["plan"]["text"])
    leftovers = stage.inventory()
    for item in leftovers:
        report.ill(f"left behind: {item['kind']} {item['id']}")
    if not leftovers:
        report.well("the emulated cloud's inventory is empty: no cluster, no node group, no machine, no access entry")
    return {"pools": pools, "second_run_changed": int(second["changed"]), "leftovers": len(leftovers)}


@contextmanager
def _progress(stage: Stage, report: Report) -> Iterator[None]:
    """Print where the pools stand while something else runs."""
    over = threading.Event()

    def look() -> None:
        while not over.wait(_LOOK_SECONDS):
            for view in _views(stage):
                report.substrate(view)

    thread = threading.Thread(target=look, name="progress", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _views(stage: Stage) -> list[dict[str, Any]]:
    with open_session(load_settings(stage.settings_file, environ={})) as session:
        return [view.to_data() for view in list_substrates(session)]


def _wait_for_joined(stage: Stage, report: Report) -> None:
    until = time.monotonic() + _JOIN_SECONDS
    while True:
        views = _views(stage)
        for view in views:
            report.substrate(view)
        if views and all(view["nodes_listed"] and view["nodes_joined"] == view["nodes_listed"] for view in views):
            return
        if time.monotonic() > until:
            raise TimeoutError(f"not every Node joined within {_JOIN_SECONDS:g} s")
        time.sleep(_LOOK_SECONDS)


def _pools(stage: Stage) -> list[dict[str, Any]]:
    kept = ("provider", "state", "nodes_listed", "nodes_joined")
    return [{"name": view["pool"], **{key: view[key] for key in kept}} for view in _views(stage)]


def _without_pools(stage: Stage) -> Path:
    document = json.loads(_DOCUMENT.read_text(encoding="utf-8"))
    path = stage.folder / "without-pools.json"
    path.write_text(json.dumps({**document, "pools": [], "quotas": []}, indent=2), encoding="utf-8")
    return path


if __name__ == "__main__":
    sys.exit(main())
