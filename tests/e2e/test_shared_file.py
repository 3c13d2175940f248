# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A SQLite file that two users of one group share: the daemon's and a person's."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from ansible_collections.better_compute.fleet.tests.support.life import memory_folder
from ansible_collections.better_compute.fleet.tests.support.shared_fleet_user import User, user

pytestmark = pytest.mark.e2e

AS_ROOT = os.geteuid() == 0
SHARED_GROUP = 54321 if AS_ROOT else os.getegid()
"""No such group need exist: the kernel goes by numbers."""


@pytest.fixture
def file() -> Iterator[Path]:
    """Where the shared file is to be: in a folder of the group's, as the role makes it."""
    with memory_folder() as folder:
        folder.chmod(0o755)
        state = folder / "state"
        state.mkdir()
        os.chown(state, -1, SHARED_GROUP)
        state.chmod(0o2770)
        yield state / "fleet.db"


@pytest.fixture
def users(file: Path) -> Iterator[tuple[User, User]]:
    """Two users with groups of their own, and the shared one beside; as one user where the tests do not run as root."""
    first, second = (61001, 61002) if AS_ROOT else (-1, -1)
    with (
        user(f"sqlite:///{file}", uid=first, own_group=first, shared_group=SHARED_GROUP) as daemon,
        user(f"sqlite:///{file}", uid=second, own_group=second, shared_group=SHARED_GROUP) as person,
    ):
        yield daemon, person


def test_two_users_of_one_group_take_turns_and_the_files_stay_the_groups(users: tuple[User, User], file: Path) -> None:
    daemon, person = users
    assert daemon.ask("apply", 1) == "changed"
    for nodes in (2, 3):
        assert person.ask("apply", nodes) == "changed"
        assert daemon.ask("apply", nodes) == "unchanged"
        assert daemon.ask("apply", nodes + 10) == "changed"
        files = {path.name: path.stat() for path in file.parent.iterdir()}
        assert file.name in files
        assert {stat.S_IMODE(one.st_mode) for one in files.values()} == {0o660}
        assert {one.st_gid for one in files.values()} == {SHARED_GROUP}


def test_a_plan_that_another_user_has_overtaken_is_refused(users: tuple[User, User]) -> None:
    daemon, person = users
    assert daemon.ask("apply", 1) == "changed"
    assert person.ask("plan", 2) == "changed"
    assert daemon.ask("apply", 3) == "changed"
    assert "plan again" in person.ask("apply", 2)
    assert person.ask("apply", 2) == "changed"
