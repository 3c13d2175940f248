# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the store's tests run in processes of their own: ``python -m <this module> <what> <database_url> <number>``.

A process says that it is ready, waits for a line on its standard input, and then does what it was started for; so
several can be let go at once.
"""

from __future__ import annotations

import os
import subprocess
import sys

from sqlalchemy import text

from ansible_collections.better_compute.fleet.daemon.migrations import migrate
from ansible_collections.better_compute.fleet.plugins.module_utils._core.store import Store, fleet, open_store
from ansible_collections.better_compute.fleet.tests.support import rows


def open_and_write(url: str, number: int) -> None:
    """Open the store, and write a site of that number to it."""
    store = open_store(url)
    with store.write() as tx:
        fleet.put_site(tx, rows.site(name=f"site-{number}"))
    store.close()


def session_of(store: Store) -> int | None:
    """PostgreSQL's number of the session that the store reads in; None on SQLite, which has no sessions."""
    with store.read() as tx:
        if store.name.startswith("sqlite"):
            return None
        session: int = tx.execute(text("SELECT pg_backend_pid()")).scalar_one()
        return session


def fork_and_write(url: str, number: int) -> None:
    """Use an open store, fork, let the child write through it, and write as the parent after it."""
    store = open_store(url)
    parents = session_of(store)
    child = os.fork()
    if child == 0:
        code = 1
        try:
            if parents is None or session_of(store) != parents:
                with store.write() as tx:
                    fleet.put_site(tx, rows.site(name=f"child-{number}"))
                code = 0
        finally:
            os._exit(code)
    if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) != 0 or session_of(store) != parents:
        raise SystemExit("the child failed, or one took the other's session")
    with store.write() as tx:
        fleet.put_site(tx, rows.site(name=f"parent-{number}"))
    store.close()


def run_at_once(what: str, url: str, *, processes: int) -> list[int]:
    """Run that many processes, which start together; gives their exit codes."""
    command = [sys.executable, "-m", __name__, what, url]
    running = [
        subprocess.Popen([*command, str(number)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        for number in range(processes)
    ]
    for process in running:
        assert process.stdout is not None
        process.stdout.readline()
    for process in running:
        assert process.stdin is not None
        process.stdin.write(b"go\n")
        process.stdin.flush()
    for process in running:
        process.communicate()
    return [process.returncode for process in running]


if __name__ == "__main__":
    what, url, number = sys.argv[1:]
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    sys.stdin.readline()
    if what == "migrate":
        migrate(url)
    elif what == "open":
        open_and_write(url, int(number))
    else:
        fork_and_write(url, int(number))
