# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""bcd as its image has it, without a container engine: what its own lock names in an empty environment, and its code.

A kubelet's double is at the other end of its device plugin. There are no GPUs here, so its list is empty.

The steps are those of agent/Containerfile, out of the file itself. Packages come from whatever index pip is set up for.
"""

from __future__ import annotations

import asyncio
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from datetime import timedelta
from pathlib import Path

import pytest

from ansible_collections.better_compute.fleet.daemon.gateway import GatewayServer, ensure_certificate
from ansible_collections.better_compute.fleet.emulators.engine import RealClock
from ansible_collections.better_compute.fleet.plugins.module_utils._core.store import create_schema, open_store
from ansible_collections.better_compute.fleet.tests.support.joining_machines import TOKEN, new_pool, new_token, nodes_of
from ansible_collections.better_compute.fleet.tests.support.kubelet_double import kubelet_double
from ansible_collections.better_compute.fleet.tests.support.tree_copy import CHECKOUT

pytestmark = pytest.mark.e2e

AGENT = CHECKOUT / "agent"
CONTAINERFILE = (AGENT / "Containerfile").read_text(encoding="utf-8")
PATIENCE_SECONDS = 60


@pytest.fixture(scope="module")
def bcd(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program, in an environment with what the lock names for this Python, bcd's code, and nothing else."""
    folder = tmp_path_factory.mktemp("image") / "bcd"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    python = folder / "bin" / "python"
    (options,) = re.findall(r"/pip install --no-cache-dir (.*) -r /tmp/requirements.lock", CONTAINERFILE)
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", str(python), "install", "--quiet"]
    subprocess.run([*pip, *shlex.split(options), "-r", str(AGENT / "requirements.lock")], check=True)
    version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    shutil.copytree(
        AGENT / "bcd",
        folder / "lib" / version / "site-packages" / "bcd",
        ignore=shutil.ignore_patterns("__pycache__"),
    )
    (script,) = re.findall(r"RUN printf '#!/opt/bcd/bin/python\\n(.*)' > /opt/bcd/bin/bcd", CONTAINERFILE)
    program = folder / "bin" / "bcd"
    program.write_text(f"#!{python}\n" + script.replace(r"\n", "\n"), encoding="utf-8")
    program.chmod(0o755)
    return program


def run(bcd: Path, *arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
    """A run of the program to its end, in this environment and no other."""
    return subprocess.run(
        [bcd, *arguments], env=environ, check=False, capture_output=True, text=True, timeout=PATIENCE_SECONDS
    )


def test_it_tells_its_version_and_every_variable_that_is_missing(bcd: Path) -> None:
    told = run(bcd, "--version")
    assert (told.returncode, told.stdout) == (0, f"bcd {_version()}\n")
    told = run(bcd, "join")
    assert told.returncode == 2
    for name in ("BCD_GATEWAY_URL", "BCD_PINS", "BCD_NODE_NAME", "BCD_STATE_DIR", "BCD_JOIN_TOKEN_FILE"):
        assert f"{name}: is not set" in told.stderr


def test_it_joins_a_real_gateway_runs_and_ends_when_it_is_told_to(bcd: Path, tmp_path: Path) -> None:
    clock = RealClock()
    url = f"sqlite:///{tmp_path / 'fleet.db'}"
    create_schema(url)
    store = open_store(url, clock=clock)
    certificate = ensure_certificate(tmp_path / "gateway", hosts=["127.0.0.1"])
    try:
        with GatewayServer(store=store, clock=clock, certificate=certificate, host="127.0.0.1", port=0) as gateway:
            pool = new_pool(store)
            now = clock.now()
            new_token(store, pool, created_at=now, expires_at=now + timedelta(hours=1))
            (tmp_path / "token").write_text(TOKEN.reveal(), encoding="utf-8")
            environ = {
                "BCD_GATEWAY_URL": f"https://127.0.0.1:{gateway.port}",
                "BCD_PINS": certificate.pin,
                "BCD_NODE_NAME": "ip-10-0-0-1.ec2.internal",
                "BCD_STATE_DIR": str(tmp_path / "state"),
                "BCD_JOIN_TOKEN_FILE": str(tmp_path / "token"),
                # No kubelet of this machine's is to hear of a test.
                "BCD_DEVICE_PLUGIN_DIR": str(tmp_path / "device-plugins"),
            }
            joined = run(bcd, "join", **environ)
            assert joined.returncode == 0, joined.stderr
            (node,) = nodes_of(store, pool)
            assert (node.reported_node_name, node.devices) == ("ip-10-0-0-1.ec2.internal", ())
            assert f"joined as {node.id}" in joined.stderr
            assert TOKEN.reveal() not in joined.stderr
            assert (tmp_path / "state" / "identity.json").stat().st_mode & 0o777 == 0o600

            with subprocess.Popen([bcd, "run"], env=environ, stderr=subprocess.PIPE, text=True) as running:
                try:
                    deadline = time.monotonic() + PATIENCE_SECONDS
                    while nodes_of(store, pool)[0].last_seen_at <= node.joined_at:
                        assert time.monotonic() < deadline
                        assert running.poll() is None
                        time.sleep(0.1)
                        gateway.heartbeats.flush(store)
                finally:
                    running.send_signal(signal.SIGTERM)
                said = running.communicate(timeout=PATIENCE_SECONDS)[1]
            assert running.returncode == 0, said
            assert "Traceback" not in said
            assert "waiting for one" in said
            said = asyncio.run(_with_a_kubelet(bcd, environ))
            assert "registered bc.dev/gpu with the kubelet" in said
            assert "Traceback" not in said
    finally:
        store.close()
        clock.close()


async def _with_a_kubelet(bcd: Path, environ: dict[str, str]) -> str:
    """What the program says while it is registered with a kubelet, from its start to its end."""
    async with kubelet_double() as kubelet:
        running = await asyncio.create_subprocess_exec(
            bcd, "run", env=environ | {"BCD_DEVICE_PLUGIN_DIR": str(kubelet.folder)}, stderr=asyncio.subprocess.PIPE
        )
        try:
            await kubelet.until_listed()
            assert kubelet.sockets() == [kubelet.registered[-1].endpoint]
        finally:
            running.send_signal(signal.SIGTERM)
        said = (await asyncio.wait_for(running.communicate(), PATIENCE_SECONDS))[1].decode()
        assert running.returncode == 0, said
        assert kubelet.sockets() == []
        return said


def _version() -> str:
    (version,) = re.findall(r'^__version__ = "(.*)"$', (AGENT / "bcd" / "__init__.py").read_text(), flags=re.MULTILINE)
    return str(version)
