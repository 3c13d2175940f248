# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What bcd keeps on the host: private, whole, and the same machine after any crash."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from bcd.gateway import Accepted, Booked, Booking
from bcd.state import StateFolder

ACCEPTED = Accepted(node_id="node_" + "0" * 26, heartbeat_seconds=10)
BOOKED = Booked(version="3", bookings=(Booking(reservation_id="rsv_" + "1" * 26, device_ids=("GPU-0", "GPU-1")),))


def test_folder_and_files_are_the_owners_alone_even_where_the_kubelet_made_the_folder(tmp_path: Path) -> None:
    folder = tmp_path / "bcd"
    folder.mkdir(mode=0o755)
    state = StateFolder(folder)
    state.joining()
    state.accept(state.joining(), ACCEPTED)
    state.keep_booked(ACCEPTED.node_id, BOOKED)
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in [folder, *folder.iterdir()]}
    assert modes == {"bcd": 0o700, "identity.json": 0o600, "bookings.json": 0o600}


def test_a_join_under_way_is_the_same_one_after_a_restart(tmp_path: Path) -> None:
    assert StateFolder(tmp_path).joining() == StateFolder(tmp_path).joining()


def test_an_accepted_identity_is_found_again(tmp_path: Path) -> None:
    state = StateFolder(tmp_path)
    identity = state.accept(state.joining(), ACCEPTED)
    assert StateFolder(tmp_path).identity() == identity
    assert identity.node_id == ACCEPTED.node_id


def test_the_next_join_has_a_fresh_nonce_and_identity(tmp_path: Path) -> None:
    state = StateFolder(tmp_path)
    first = state.joining()
    state.accept(first, ACCEPTED)
    second = state.joining()
    assert second.nonce != first.nonce
    assert second.secret != first.secret


def test_a_crash_right_after_the_identity_was_kept_does_not_bring_its_join_back(tmp_path: Path) -> None:
    state = StateFolder(tmp_path)
    first = state.joining()
    kept = (tmp_path / "joining.json").read_bytes()
    state.accept(first, ACCEPTED)
    (tmp_path / "joining.json").write_bytes(kept)
    assert StateFolder(tmp_path).joining().nonce != first.nonce


def test_bookings_are_found_again(tmp_path: Path) -> None:
    StateFolder(tmp_path).keep_booked(ACCEPTED.node_id, BOOKED)
    assert StateFolder(tmp_path).booked(ACCEPTED.node_id) == BOOKED


def test_bookings_of_an_earlier_node_stand_but_their_version_means_nothing(tmp_path: Path) -> None:
    state = StateFolder(tmp_path)
    state.keep_booked("node_" + "1" * 26, BOOKED)
    assert state.booked(ACCEPTED.node_id) == Booked(version="", bookings=BOOKED.bookings)


@pytest.mark.parametrize("garbage", [b"", b"{", b"[]", b"{}", b"\xff\xfe", b'{"identity": 1}'])
def test_a_file_that_cannot_be_understood_counts_as_absent(tmp_path: Path, garbage: bytes) -> None:
    state = StateFolder(tmp_path)
    for name in ("identity.json", "joining.json", "bookings.json"):
        (tmp_path / name).write_bytes(garbage)
    assert state.identity() is None
    assert state.booked(ACCEPTED.node_id) == Booked(version="", bookings=())
    assert len(state.joining().nonce) == 22


def test_no_secret_is_in_a_repr(tmp_path: Path) -> None:
    state = StateFolder(tmp_path)
    joining = state.joining()
    identity = state.accept(joining, ACCEPTED)
    assert joining.secret.reveal() not in f"{joining!r} {identity!r} {identity.secret} {identity.secret!r}"
