# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A process of one more user of a shared fleet: ``python -m <this module> <uid> <own gid> <shared gid>``.

It starts as whoever starts it, loads what it needs, becomes the user (unless the uid is -1), and then does what each
line of its standard input asks for: `plan` or `apply`, with a document's flavor count. It answers in one JSON line.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import sqlalchemy.dialects.sqlite

from ansible_collections.better_compute.fleet.plugins.module_utils._core.documents.load import parse_document
from ansible_collections.better_compute.fleet.plugins.module_utils._core.documents.settings import load_settings
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import FleetError
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations import fleet
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.fleet import PlannedFleet
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.session import (
    Session,
    open_session,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.store.tables import tables
from ansible_collections.better_compute.fleet.tests.support.fleet_documents import put
from ansible_collections.better_compute.fleet.tests.support.life.world import document

_UMASK = 0o077
"""As strict as a user can have it."""


class User:
    """The process, seen from the test."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        """Arguments: process: one that has just been started."""
        self._process = process

    def ask(self, what: str, nodes: int) -> str:
        """Have it plan or apply the document with that many nodes; `changed`, `unchanged`, or an error's text."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps([what, nodes]) + "\n")
        self._process.stdin.flush()
        answer: str = json.loads(self._process.stdout.readline())
        return answer


@contextmanager
def user(url: str, *, uid: int, own_group: int, shared_group: int) -> Iterator[User]:
    """Start one, with -1 for its uid as whoever runs the test."""
    ids = map(str, (uid, own_group, shared_group))
    environment: Mapping[str, str] = {**os.environ, "BC_FLEET_STORE_DATABASE_URL": url}
    with subprocess.Popen(
        [sys.executable, "-m", __name__, *ids],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
    ) as process:
        yield User(process)
        process.communicate(timeout=30)


def _become(uid: int, own_group: int, shared_group: int) -> None:
    os.umask(_UMASK)
    if uid >= 0:
        os.setgroups([shared_group])
        os.setgid(own_group)
        os.setuid(uid)


def _serve(session: Session) -> None:
    planned: PlannedFleet | None = None
    for line in sys.stdin:
        what, nodes = json.loads(line)
        try:
            if what == "plan" or planned is None:
                data = put(document(), "pools.0.policy.substrate.flavors.0.nodes", nodes)
                planned = fleet.plan_fleet(session, parse_document(data), prune=False, refresh=False)
            answer = "changed" if planned.plan.changed else "unchanged"
            if what == "apply":
                fleet.apply_fleet(session, planned)
                planned = None
        except FleetError as error:
            answer, planned = str(error), None
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    tables()
    sqlalchemy.dialects.sqlite.dialect()
    # Whoever it becomes may not read where Python is: what is loaded late is loaded now.
    with (
        tempfile.TemporaryDirectory() as folder,
        open_session(load_settings(environ={}, database_url=f"sqlite:///{folder}/fleet.db")) as warm,
    ):
        fleet.apply_fleet(warm, fleet.plan_fleet(warm, parse_document(document()), prune=False, refresh=False))
    _become(*map(int, sys.argv[1:]))
    with open_session(load_settings()) as session:
        _serve(session)
