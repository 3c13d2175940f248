# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The three programs as processes: started on loopback, waited for, and ended with the tests, however these end."""

from __future__ import annotations

import contextlib
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import urllib3

from .connection import Connection
from .credentials import make_credentials
from .token_reviews import TokenReviews

HOST = "127.0.0.1"

_NOWHERE = f"http://{HOST}:9"

_STARTUP_LIMIT_SECONDS = 120.0
"""Idle, the API answers after about 5 s and its controllers after 3 more; two loaded cores take several times that."""

_SHUTDOWN_LIMIT_SECONDS = 20.0
_POLL_SECONDS = 0.05
_TRIES = 3
"""The port is free when it is looked for, and may be taken by somebody else when the API wants it."""

# Ends the program when the test process ends, however it ends: its death closes the pipe that `read` waits on. And it
# ends itself when the program does. KILL, because nothing here is worth a graceful end.
_END_WITH_PARENT = 'exec 3<&0; "$@" </dev/null & it=$!; (read -r _ <&3; kill -KILL "$it" 2>/dev/null) & wait "$it"'

_CONTROLLERS = (
    "namespace-controller",
    "serviceaccount-controller",
    "serviceaccount-token-controller",
    "root-ca-certificate-publisher-controller",
    "clusterrole-aggregation-controller",
    "garbage-collector-controller",
    "daemonset-controller",
)


class ControlPlaneDied(RuntimeError):
    """It did not come up. Carries the end of what its programs printed."""


class ControlPlane:
    """A running control plane. Nothing in it is durable. Use `running_control_plane`, which also ends it.

    Attributes:
        folder: holds everything that it writes.
        reviews: judges the bearer tokens that the API does not know itself.
        admin: the API as an administrator.
    """

    def __init__(self, programs: Path) -> None:
        """Start it; returns once API and controllers work.

        Arguments:
            programs: the folder with the three programs.

        Raises:
            ControlPlaneDied: it did not come up.
        """
        self._programs = programs
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        # /tmp by name: a unix socket's path holds 107 bytes at most, and some temporary folders are longer.
        self.folder = Path(tempfile.mkdtemp(prefix="bc-controlplane-", dir="/tmp"))
        self.reviews = TokenReviews()
        try:
            self.credentials = make_credentials(self.folder, host=HOST)
            self._start_etcd()
            self.admin = self._start_api()
            self._start_controllers()
        except BaseException:
            self.stop()
            raise

    @property
    def pids(self) -> frozenset[int]:
        """Our direct children: the shells that end the programs with us."""
        return frozenset(process.pid for process in self._processes.values())

    def stop(self) -> None:
        """End everything at once. Stopping twice is nothing."""
        for name in reversed(list(self._processes)):
            self._end(name)
        self.reviews.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _start_etcd(self) -> None:
        self._run(
            "etcd",
            f"--data-dir={self.folder / 'etcd'}",
            f"--listen-client-urls={self._socket('client')}",
            f"--listen-peer-urls={self._socket('peer')}",
            # What is advertised nobody uses: it has one member. Only it must look like a host and a port.
            f"--advertise-client-urls={_NOWHERE}",
            f"--initial-advertise-peer-urls={_NOWHERE}",
            f"--initial-cluster=default={_NOWHERE}",
            "--unsafe-no-fsync",
            "--log-level=warn",
        )

    def _start_api(self) -> Connection:
        """Start the API, on another port if somebody took the first meanwhile."""
        for tries_left in reversed(range(_TRIES)):
            port = _free_port()
            connection = Connection(
                endpoint=f"https://{HOST}:{port}",
                ca_pem=self.credentials.ca_pem,
                token=self.credentials.admin_token,
            )
            self._run("kube-apiserver", *self._api_flags(port))
            try:
                self._wait("kube-apiserver", partial(_is_ready, connection))
            except ControlPlaneDied:
                if not tries_left:
                    raise
                self._end("kube-apiserver")
            else:
                return connection
        raise AssertionError("unreachable")

    def _api_flags(self, port: int) -> list[str]:
        made = self.credentials
        reviews = made.kubeconfig("reviews", server=self.reviews.url, ca_pem=self.reviews.ca_pem)
        return [
            f"--etcd-servers={self._socket('client')}",
            f"--bind-address={HOST}",
            f"--secure-port={port}",
            f"--advertise-address={HOST}",
            "--endpoint-reconciler-type=none",
            f"--cert-dir={self.folder}",
            f"--tls-cert-file={made.serving_chain}",
            f"--tls-private-key-file={made.serving_chain}",
            "--service-account-issuer=https://kubernetes.default.svc",
            f"--service-account-key-file={made.account_key_file}",
            f"--service-account-signing-key-file={made.account_key_file}",
            f"--token-auth-file={made.tokens}",
            f"--authentication-token-webhook-config-file={reviews}",
            "--authentication-token-webhook-version=v1",
            "--authentication-token-webhook-cache-ttl=1s",
            "--authorization-mode=RBAC",
            "--service-cluster-ip-range=10.0.0.0/24",
            "--allow-privileged=true",
            "--profiling=false",
            # Pages are etcd's own, so that a continuation expires as soon as a test compacts it and not after minutes.
            "--feature-gates=ListFromCacheSnapshot=false",
        ]

    def _start_controllers(self) -> None:
        made = self.credentials
        config = made.kubeconfig("controllers", server=self.admin.endpoint, ca_pem=made.ca_pem, token=made.admin_token)
        self._run(
            "kube-controller-manager",
            f"--kubeconfig={config}",
            f"--controllers={','.join(_CONTROLLERS)}",
            f"--service-account-private-key-file={made.account_key_file}",
            f"--root-ca-file={made.authority}",
            f"--cert-dir={self.folder}",
            "--leader-elect=false",
            "--secure-port=0",
            "--profiling=false",
        )
        default = "/api/v1/namespaces/default/serviceaccounts/default"
        self._wait("kube-controller-manager", lambda: self.admin.get(default).status == 200)

    def _socket(self, name: str) -> str:
        return f"unix://{self.folder}/etcd-{name}.sock"

    def _run(self, name: str, *flags: str) -> None:
        with self._log(name).open("ab") as output:
            self._processes[name] = subprocess.Popen(
                ["/bin/sh", "-c", _END_WITH_PARENT, name, str(self._programs / name), *flags],
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=output,
                cwd=self.folder,
                # Nothing of the tests' environment: no proxy, no certificates, no Kubernetes settings of the user's.
                env={"PATH": "/usr/bin:/bin", "HOME": str(self.folder)},
            )

    def _wait(self, name: str, answers: Callable[[], bool]) -> None:
        deadline = time.monotonic() + _STARTUP_LIMIT_SECONDS
        while time.monotonic() < deadline and all(process.poll() is None for process in self._processes.values()):
            with contextlib.suppress(urllib3.exceptions.HTTPError):
                if answers():
                    return
            time.sleep(_POLL_SECONDS)
        logs = [f"{one}:\n{self._log(one).read_text(errors='replace')[-3000:]}" for one in self._processes]
        raise ControlPlaneDied("\n".join([f"{name} did not come up", *logs]))

    def _log(self, name: str) -> Path:
        return self.folder / f"{name}.log"

    def _end(self, name: str) -> None:
        process = self._processes.pop(name)
        assert process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            # A line, not only the end of file: a forked child of the tests may hold the pipe open as well.
            process.stdin.write(b"\n")
            process.stdin.close()
        process.wait(timeout=_SHUTDOWN_LIMIT_SECONDS)


@contextlib.contextmanager
def running_control_plane(programs: Path) -> Iterator[ControlPlane]:
    """Start a control plane and end it afterwards.

    Raises:
        ControlPlaneDied: it did not come up.
    """
    plane = ControlPlane(programs)
    try:
        yield plane
    finally:
        plane.stop()


def _free_port() -> int:
    with socket.create_server((HOST, 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


def _is_ready(connection: Connection) -> bool:
    return connection.get("/readyz").status == 200
