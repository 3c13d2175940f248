# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The engine: one clock, inventory, request log and fault script for all emulators of a world."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from .answers import Answer, Call, InjectedError, ReplyLost
from .clock import Clock, RealClock
from .faults import FaultScript
from .inventory import Inventory
from .operations import Operations
from .request_log import CONNECTION_LOST, RequestLog

_INTERNAL_ERROR: Final = 500


class Engine:
    """Ties the parts together. Thread-safe.

    Attributes:
        clock: real or virtual.
        inventory: what exists now.
        log: what was asked.
        faults: what goes wrong.
        operations: what is going on.
    """

    def __init__(self, clock: Clock | None = None) -> None:
        """Arguments: clock: a real one in real time when none is given."""
        self.clock: Clock = clock if clock is not None else RealClock()
        self.inventory = Inventory()
        self.log = RequestLog()
        self.faults = FaultScript()
        self.operations = Operations(self.clock)

    def handle(self, call: Call, effect: Callable[[], Answer]) -> Answer:
        """Answer one request: scripted faults, effect, log.

        Arguments:
            call: what is asked.
            effect: does it and makes the answer. It renders the cloud's own refusals itself, as answers.

        Raises:
            InjectedError: scripted, before the effect: render it as the cloud would.
            ReplyLost: scripted, after the effect: drop the connection.
        """
        actions = self.faults.strike(call)
        status = _INTERNAL_ERROR
        lost = False
        try:
            for action in actions:
                action.before(call, self.clock)
            answer = effect()
            status = answer.status
            for action in actions:
                action.after(call, self.clock)
        except InjectedError as error:
            status = error.status
            raise
        except ReplyLost:
            lost = True
            if status == _INTERNAL_ERROR:
                status = CONNECTION_LOST
            raise
        else:
            return answer
        finally:
            self.log.note(call, status=status, at=self.clock.now(), lost=lost)

    def close(self) -> None:
        """Stop the clock. Timers that are not due never fire."""
        self.clock.close()
