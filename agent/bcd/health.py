# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which GPUs have gone bad, from NVML's events: a critical XID, or an ECC error that could not be corrected."""

from __future__ import annotations

import logging
from typing import Any, Final

logger = logging.getLogger(__name__)

APPLICATION_XIDS: Final = frozenset({13, 31, 43, 45, 68, 109})
"""Errors of the program that ran on the GPU: the next program finds it in order."""


def is_fault(*, xid: int | None) -> bool:
    """Whether an event speaks against the GPU.

    Arguments:
        xid: the event's XID; None for an ECC error.
    """
    return xid is None or xid not in APPLICATION_XIDS


class NvmlEvents:
    """NVML's events since it was first asked. A GPU that has gone bad stays so until bcd is started again.

    NVML keeps events until they are fetched, so they are fetched without waiting, as often as somebody asks; no thread
    of its own. Not to be asked by two threads at once.
    """

    def __init__(self) -> None:
        """Nothing is opened yet."""
        self._pynvml: Any = None
        self._events: Any = None
        self._unhealthy: set[str] = set()

    def read_unhealthy(self) -> frozenset[str]:
        """The UUIDs of all GPUs that have gone bad. Without NVML, or where it does not answer: those known before."""
        try:
            import pynvml  # type: ignore[import-not-found,unused-ignore]  # the image has it, a workstation need not
        except ImportError:
            return frozenset()
        try:
            if self._events is None:
                self._events = _open(pynvml)
            while (uuid := _next_fault(pynvml, self._events)) is not None:
                if uuid:
                    logger.error("%s has gone bad: it is unhealthy from now on", uuid)
                    self._unhealthy.add(uuid)
        except pynvml.NVMLError as error:
            logger.warning("NVML tells no events: %s", error)
            self._events = None
        return frozenset(self._unhealthy)


def _open(pynvml: Any) -> Any:
    """A set of events of every GPU. NVML stays initialised for as long as the process lives: the set dies with it."""
    pynvml.nvmlInit()
    events = pynvml.nvmlEventSetCreate()
    kinds = pynvml.nvmlEventTypeXidCriticalError | pynvml.nvmlEventTypeDoubleBitEccError
    for index in range(pynvml.nvmlDeviceGetCount()):
        handle = pynvml.nvmlDeviceGetHandleByIndex(index)
        try:
            pynvml.nvmlDeviceRegisterEvents(handle, kinds, events)
        except pynvml.NVMLError as error:
            # Some GPUs, and some kinds of virtual ones, have no events: such a one counts as healthy.
            logger.warning("GPU %d tells no events: %s", index, error)
    return events


def _next_fault(pynvml: Any, events: Any) -> str | None:
    """The UUID that the next event speaks against; empty for an event that speaks against none, None without event."""
    try:
        event = pynvml.nvmlEventSetWait_v2(events, 0)
    except pynvml.NVMLError as error:
        if error.value == pynvml.NVML_ERROR_TIMEOUT:
            return None
        raise
    xid = event.eventData if event.eventType == pynvml.nvmlEventTypeXidCriticalError else None
    if not is_fault(xid=xid):
        return ""
    uuid = pynvml.nvmlDeviceGetUUID(event.device)
    return uuid.decode() if isinstance(uuid, bytes) else str(uuid)
