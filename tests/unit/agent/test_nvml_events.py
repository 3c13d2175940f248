# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which events of NVML's speak against a GPU. The binding is a stand-in with the names of nvidia-ml-py."""

# ruff: noqa: N802, N815 - the names are the binding's

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import pytest

from bcd.health import APPLICATION_XIDS, NvmlEvents
from bcd.inventory import read_nvml

XID = 8
ECC = 2
TIMEOUT = 10
UNKNOWN = 999


class NVMLError(Exception):
    def __init__(self, value: int) -> None:
        super().__init__(value)
        self.value = value


class Nvml:
    """Two GPUs, whose handles are 0 and 1."""

    NVMLError = NVMLError
    NVML_ERROR_TIMEOUT = TIMEOUT
    nvmlEventTypeXidCriticalError = XID
    nvmlEventTypeDoubleBitEccError = ECC

    def __init__(self) -> None:
        self.opened = 0
        self.eventless: set[int] = set()
        self.registered: list[tuple[int, int]] = []
        self.events: list[SimpleNamespace | NVMLError] = []

    def happen(self, handle: int, kind: int, data: int = 0) -> None:
        self.events.append(SimpleNamespace(device=handle, eventType=kind, eventData=data))

    def nvmlInit(self) -> None: ...

    def nvmlShutdown(self) -> None: ...

    def nvmlDeviceGetCount(self) -> int:
        return 2

    def nvmlDeviceGetHandleByIndex(self, index: int) -> int:
        return index

    def nvmlDeviceGetUUID(self, handle: int) -> str:
        return f"GPU-{handle}"

    def nvmlDeviceGetName(self, handle: int) -> bytes:
        return b"NVIDIA H100 80GB HBM3"

    def nvmlDeviceGetMinorNumber(self, handle: int) -> int:
        return handle

    def nvmlEventSetCreate(self) -> int:
        self.opened += 1
        return self.opened

    def nvmlDeviceRegisterEvents(self, handle: int, kinds: int, events: int) -> None:
        if handle in self.eventless:
            raise NVMLError(3)
        self.registered.append((handle, kinds))

    def nvmlEventSetWait_v2(self, events: int, timeout_ms: int) -> SimpleNamespace:
        assert timeout_ms == 0
        if not self.events:
            raise NVMLError(TIMEOUT)
        event = self.events.pop(0)
        if isinstance(event, NVMLError):
            raise event
        return event


@pytest.fixture
def nvml(monkeypatch: pytest.MonkeyPatch) -> Nvml:
    made = Nvml()
    module: Any = made
    monkeypatch.setitem(sys.modules, "pynvml", module)
    return made


def test_without_nvml_no_gpu_is_known_and_none_has_gone_bad(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", None)
    assert NvmlEvents().read_unhealthy() == frozenset()
    assert read_nvml() is None


def test_a_critical_xid_and_an_uncorrected_ecc_error_speak_against_a_gpu(nvml: Nvml) -> None:
    events = NvmlEvents()
    assert events.read_unhealthy() == frozenset()
    assert nvml.registered == [(0, XID | ECC), (1, XID | ECC)]
    nvml.happen(1, XID, 79)
    assert events.read_unhealthy() == {"GPU-1"}
    nvml.happen(0, ECC)
    assert events.read_unhealthy() == {"GPU-0", "GPU-1"}
    assert nvml.opened == 1


@pytest.mark.parametrize("xid", sorted(APPLICATION_XIDS))
def test_an_error_of_the_program_does_not_and_what_comes_after_it_is_read(nvml: Nvml, xid: int) -> None:
    events = NvmlEvents()
    nvml.happen(0, XID, xid)
    assert events.read_unhealthy() == frozenset()
    nvml.happen(0, XID, xid)
    nvml.happen(1, XID, 48)
    assert events.read_unhealthy() == {"GPU-1"}


def test_the_xids_of_programs_are_those_that_nvidia_names() -> None:
    assert sorted(APPLICATION_XIDS) == [13, 31, 43, 45, 68, 109]


def test_a_gpu_without_events_does_not_keep_the_others_from_being_watched(nvml: Nvml) -> None:
    nvml.eventless = {0}
    events = NvmlEvents()
    nvml.happen(1, XID, 79)
    assert events.read_unhealthy() == {"GPU-1"}


def test_what_was_known_stays_when_nvml_fails_and_it_is_asked_anew(nvml: Nvml) -> None:
    events = NvmlEvents()
    nvml.happen(1, XID, 79)
    nvml.events.append(NVMLError(UNKNOWN))
    assert events.read_unhealthy() == {"GPU-1"}
    nvml.happen(0, XID, 79)
    assert events.read_unhealthy() == {"GPU-0", "GPU-1"}
    assert nvml.opened == 2


def test_the_gpus_are_read_with_their_uuids(nvml: Nvml) -> None:
    gpus = read_nvml()
    assert gpus is not None
    assert [(gpu.id, gpu.model) for gpu in gpus] == [(f"GPU-{n}", "NVIDIA H100 80GB HBM3") for n in (0, 1)]
