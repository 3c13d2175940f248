# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The guard that fails a test for what it leaves running: it sees processes and threads, and lets the rest be."""

from __future__ import annotations

import contextlib
import subprocess
import threading
from collections.abc import Iterator

import pytest

from ansible_collections.better_compute.fleet.tests.support.leftovers import Running, left_since, now_running


@contextlib.contextmanager
def _running_cat() -> Iterator[subprocess.Popen[bytes]]:
    """A process that has answered, so that it runs its program for certain.

    ``Popen`` returns a moment earlier: the kernel closes the old program's files before it knows the new command line.
    """
    with subprocess.Popen(["/bin/cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b"x")
        assert process.stdout.read(1) == b"x"
        try:
            yield process
        finally:
            process.kill()


@pytest.fixture
def bystander() -> Iterator[subprocess.Popen[bytes]]:
    with _running_cat() as process:
        yield process


def test_a_process_left_behind_is_named_and_ended() -> None:
    before = now_running()
    with _running_cat() as process:
        assert left_since(before) == [f"process {process.pid} (/bin/cat) is still running"]
        process.wait()
        assert left_since(before) == []


def test_a_process_that_ended_but_was_never_waited_for_is_left_behind() -> None:
    before = now_running()
    process = subprocess.Popen(["/bin/sh", "-c", "read line"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.close()
    process.stdout.read()  # returns when the process has ended
    process.stdout.close()
    left = left_since(before)
    process.wait()
    assert len(left) == 1
    assert str(process.pid) in left[0]


def test_a_process_that_was_there_before_or_may_stay_is_let_be(bystander: subprocess.Popen[bytes]) -> None:
    assert left_since(now_running()) == []
    now = now_running()
    before = Running(children=now.children - {bystander.pid}, threads=now.threads)
    assert left_since(before, allowed_pids=[bystander.pid]) == []
    assert bystander.poll() is None


def test_a_thread_left_behind_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ansible_collections.better_compute.fleet.tests.support.leftovers.GRACE_SECONDS", 0.05)
    before = now_running()
    end = threading.Event()
    thread = threading.Thread(target=end.wait, name="forgotten")
    thread.start()
    left = left_since(before)
    end.set()
    thread.join()
    assert left == ["thread 'forgotten' is still running"]


def test_a_thread_that_is_about_to_end_is_let_be() -> None:
    before = now_running()
    end = threading.Event()
    threading.Thread(target=end.wait).start()
    threading.Timer(0.02, end.set).start()
    assert left_since(before) == []
