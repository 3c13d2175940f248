# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A systemd of its own, as the first process of a copy of this machine that nothing outside notices.

The copy is an overlay in memory over the root file system, in namespaces of its own (all but the network's). It needs
root, a systemd that is installed, and cgroup v2; where one is missing, `NoSystemd` says which.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from ansible_collections.better_compute.fleet.tests.support.tree_copy import CHECKOUT

_SYSTEMD = Path("/lib/systemd/systemd")

_BOOT_SECONDS = 30
"""For the first process to say that all is up: two are usual."""

_NEEDED = frozenset({"systemd-journald.service", "systemd-journald.socket", "systemd-journald-dev-log.socket"})
"""Of what a system starts with. The rest is about devices, file systems and logins, which a copy shares or has not."""

_BOOT = r"""
set -e
root=$1/root
mount -t tmpfs tmpfs "$1"
mkdir "$1/upper" "$1/work" "$root"
mount -t overlay -o "lowerdir=/,upperdir=$1/upper,workdir=$1/work" overlay "$root"
shift
for folder in "$@"; do
  mkdir -p "$root$folder"
  mount --rbind "$folder" "$root$folder"
  mount -o remount,bind,ro "$root$folder"
  while [ "$folder" != / ]; do folder=$(dirname "$folder"); chmod o+x "$root$folder" || true; done
done
mount -t proc proc "$root/proc"
mount -t sysfs -o ro sysfs "$root/sys"
mount -t cgroup2 cgroup2 "$root/sys/fs/cgroup"
mount -t tmpfs -o mode=755 tmpfs "$root/run"
mount -t tmpfs -o mode=755 tmpfs "$root/dev"
mkdir "$root/dev/pts" "$root/dev/shm"
for name in null zero full random urandom tty; do
  touch "$root/dev/$name"
  mount --bind "/dev/$name" "$root/dev/$name"
done
mount -t devpts -o newinstance,ptmxmode=0666 devpts "$root/dev/pts"
ln -s pts/ptmx "$root/dev/ptmx"
ln -s /proc/self/fd "$root/dev/fd"
mount -t tmpfs tmpfs "$root/dev/shm"
rm -rf "$root/etc/systemd/system" "$root/var/log/journal"
mkdir -p "$root/etc/systemd/system"
for unit in $MASKED; do ln -s /dev/null "$root/etc/systemd/system/$unit"; done
cd "$root"
mkdir -p .outside
pivot_root . .outside
umount -l /.outside
exec env -i container=test "NOTIFY_SOCKET=$NOTIFY_SOCKET" PATH=/usr/sbin:/usr/bin:/sbin:/bin \
  "$SYSTEMD" --unit=multi-user.target --log-target=journal
"""


class NoSystemd(Exception):
    """There can be no systemd here; why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveSystemd:
    """A machine whose first process is systemd."""

    pid: int
    """The first process's, as it is seen from outside."""

    def command(self, *command: str | Path) -> list[str]:
        """What runs a command in there as root."""
        inside = ("--target", str(self.pid), "--mount", "--uts", "--ipc", "--pid", "--cgroup", "--root", "--wd")
        return ["nsenter", *inside, "--", *map(str, command)]

    def run(self, *command: str | Path) -> str:
        """Run a command in there, however it ends; what it printed, errors too."""
        return subprocess.run(
            self.command(*command), check=False, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, timeout=240, env=_environment(),
        ).stdout  # fmt: skip

    def says(self, unit: str, *names: str) -> dict[str, str]:
        """Properties of a unit."""
        told = self.run("systemctl", "show", unit, "--property", ",".join(names))
        return dict(line.split("=", 1) for line in told.splitlines())


@contextmanager
def live_systemd(folder: Path) -> Iterator[LiveSystemd]:
    """A systemd that runs within the block; the folder is an empty one.

    Raises:
        NoSystemd: it cannot be had here.
    """
    cgroups = _look_for_cgroups()
    missing = [name for name in ("unshare", "nsenter", "pivot_root", "systemctl") if shutil.which(name) is None]
    if missing or os.geteuid() != 0 or not _SYSTEMD.exists():
        raise NoSystemd(f"it needs root, {_SYSTEMD} and {', '.join(missing) or 'its tools'}")
    name = f"bc-fleet-test-{os.getpid()}"
    own = cgroups / name
    own.mkdir()
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as told:
        told.bind(f"\0{name}")
        told.settimeout(_BOOT_SECONDS)
        process = _boot(folder, own, name)
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
        try:
            _wait(told, folder)
            yield LiveSystemd(pid=int(children.read_text()))
        finally:
            # Of a process namespace the first: all others go with it.
            for child in children.read_text().split():
                os.kill(int(child), signal.SIGKILL)
            process.wait(timeout=_BOOT_SECONDS)
            for inner in sorted(own.rglob("*/"), key=lambda path: len(path.parts), reverse=True):
                inner.rmdir()
            own.rmdir()


def _wait(told: socket.socket, folder: Path) -> None:
    """Until the first process says that all is up."""
    try:
        while b"READY=1" not in told.recv(4096).splitlines():
            pass
    except TimeoutError:
        raise NoSystemd(f"systemd does not start here: {_log(folder).read_text()[-500:]}") from None


def _log(folder: Path) -> Path:
    return folder.with_name(f"{folder.name}.log")


def _environment() -> dict[str, str]:
    """Nothing of ours and of Ansible's but what the tests say."""
    return {key: value for key, value in os.environ.items() if not key.startswith(("BC_FLEET_", "ANSIBLE_", "PYTHON"))}


def _look_for_cgroups() -> Path:
    for line in Path("/proc/self/mounts").read_text().splitlines():
        _device, where, kind, *_rest = line.split()
        if kind == "cgroup2" and os.access(where, os.W_OK):
            return Path(where)
    raise NoSystemd("it needs cgroup v2, mounted so that it can be written")


def _boot(folder: Path, cgroup: Path, name: str) -> subprocess.Popen[bytes]:
    masked = {
        unit.name
        for wants in ("sysinit", "multi-user", "sockets", "timers", "local-fs", "paths")
        for unit in Path(f"/lib/systemd/system/{wants}.target.wants").glob("*")
    } - _NEEDED
    environment = {
        **_environment(),
        "MASKED": " ".join(sorted(masked)),
        "SYSTEMD": str(_SYSTEMD),
        "NOTIFY_SOCKET": f"@{name}",
    }
    start = (
        f'echo $$ > "{cgroup}/cgroup.procs"; exec unshare --pid --mount --uts --ipc --cgroup --fork --kill-child "$@"'
    )
    seen = dict.fromkeys([Path(sys.prefix), Path(sys.base_prefix), CHECKOUT.resolve()])
    with _log(folder).open("wb") as log:
        return subprocess.Popen(
            ["sh", "-c", start, "sh", "sh", "-c", _BOOT, "sh", folder, *seen],
            stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT, env=environment,
        )  # fmt: skip
