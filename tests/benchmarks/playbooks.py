# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""ansible-playbook runs of one task, and how long the task took in them."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from .product import COLLECTIONS, Desk
from .timing import Failed, run_process

_TASK: Final = "the measured task"
_LINE: Final = re.compile(r"(?P<at>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}) .*?\| (?P<said>.*)")
"""A line of Ansible's log file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Playbooks:
    """A desk from which ansible-playbook is run.

    Attributes:
        collections: folders with collections beside ours.
        whole: the wall time in seconds of every ansible-playbook so far, by what it was run for.
    """

    desk: Desk
    collections: tuple[Path, ...]
    whole: dict[str, list[float]]

    def task_seconds(self, name: str, task: Mapping[str, Any]) -> float:
        """Run a playbook of this one task on localhost; the seconds from the task's start to its (last) result.

        The task alone, because the start of ansible-playbook is the same whichever module is run.

        Arguments:
            name: of what it is run for.

        Raises:
            Failed: the task failed, or changed something.
        """
        folder = self.desk.folder
        playbook, log = folder / "playbook.json", folder / "ansible.log"
        playbook.write_text(
            json.dumps([{"hosts": "localhost", "gather_facts": False, "tasks": [{"name": _TASK, **task}]}])
        )
        log.unlink(missing_ok=True)
        program = Path(sys.executable).with_name("ansible-playbook")
        environment = {
            **self.desk.environment,
            "ANSIBLE_COLLECTIONS_PATH": ":".join(str(path) for path in (COLLECTIONS, *self.collections)),
            "ANSIBLE_HOME": str(folder / "ansible"),
            "ANSIBLE_LOCALHOST_WARNING": "false",
            "ANSIBLE_LOG_PATH": str(log),
            "ANSIBLE_NOCOLOR": "true",
        }
        seconds, _ = run_process([str(program), str(playbook)], environment=environment, folder=folder)
        self.whole.setdefault(name, []).append(seconds)
        return task_seconds(log.read_text())


def task_seconds(log: str) -> float:
    """How long the task took, by Ansible's log.

    Raises:
        Failed: it changed something, or came to no result.
    """
    began: datetime | None = None
    ended: datetime | None = None
    for line in log.splitlines():
        match = _LINE.match(line)
        if match is None:
            continue
        at = datetime.strptime(match["at"], "%Y-%m-%d %H:%M:%S,%f")  # noqa: DTZ007 -- only differences are of use
        if match["said"].startswith(f"TASK [{_TASK}]"):
            began = at
        elif match["said"].startswith("ok: [localhost]"):
            ended = at
        elif match["said"].startswith("changed: [localhost]"):
            raise Failed("the task changed something: what is measured is a run with nothing to change")
    if began is None or ended is None:
        raise Failed(f"no task's start and end in Ansible's log: {log[-500:]}")
    return (ended - began).total_seconds()
