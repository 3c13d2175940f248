# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Scripted faults: what goes wrong at which call. The emulators consult the script for each request.

An action is something with `before` and `after`: before the effect it may wait or raise InjectedError, after it it may
raise ReplyLost. A hook may do anything, such as killing the process whose request this is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from threading import Lock
from typing import Protocol

from .answers import Call, InjectedError, ReplyLost
from .clock import Clock


class Action(Protocol):
    """What a fault does at a call that it strikes."""

    def before(self, call: Call, clock: Clock) -> None:
        """Runs before the effect; an exception stands in its place."""

    def after(self, call: Call, clock: Clock) -> None:
        """Runs after the effect and before the answer leaves; an exception stands in the answer's place."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Error:
    """Refuse the call, before it has any effect, with a status, the cloud's error code and a text."""

    status: int
    code: str
    message: str

    def before(self, call: Call, clock: Clock) -> None:  # noqa: ARG002 - the Action protocol
        """Refuse."""
        raise InjectedError(status=self.status, code=self.code, message=self.message)

    def after(self, call: Call, clock: Clock) -> None:
        """Never reached."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Delay:
    """Hold the call back, before its effect, for so long on the engine's clock."""

    seconds: float

    def before(self, call: Call, clock: Clock) -> None:  # noqa: ARG002 - the Action protocol
        """Wait."""
        clock.wait(self.seconds)

    def after(self, call: Call, clock: Clock) -> None:
        """Nothing more."""


@dataclass(frozen=True, slots=True)
class LostReply:
    """Let the call have its effect, then drop the connection."""

    def before(self, call: Call, clock: Clock) -> None:
        """Nothing yet."""

    def after(self, call: Call, clock: Clock) -> None:  # noqa: ARG002 - the Action protocol
        """Drop the answer."""
        raise ReplyLost(call.name)


def _nothing(call: Call) -> None:
    """What a hook does on the side that nobody asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hook:
    """Run any code before or after the effect, e.g. to kill the process that is calling.

    Arguments:
        on_before: called with the call before its effect; may raise InjectedError.
        on_after: called after its effect and before the answer leaves; may raise ReplyLost.
    """

    on_before: Callable[[Call], None] = _nothing
    on_after: Callable[[Call], None] = _nothing

    def before(self, call: Call, clock: Clock) -> None:  # noqa: ARG002 - the Action protocol
        """Run the first."""
        self.on_before(call)

    def after(self, call: Call, clock: Clock) -> None:  # noqa: ARG002 - the Action protocol
        """Run the second."""
        self.on_after(call)


@dataclass(slots=True, kw_only=True)
class Fault:
    """One line of the script, and how often it has come into play.

    Attributes:
        matched: how many calls it fitted so far.
        struck: at how many of them it acted.
    """

    cloud: str
    name: str
    target: str
    nth: int
    times: int | None
    action: Action
    matched: int = 0
    struck: int = 0

    def fits(self, call: Call) -> bool:
        """Whether the patterns fit the call."""
        return (
            fnmatchcase(call.cloud, self.cloud)
            and fnmatchcase(call.name, self.name)
            and fnmatchcase(call.target, self.target)
        )


class FaultScript:
    """The script. Thread-safe."""

    def __init__(self) -> None:
        """An empty script: nothing goes wrong."""
        self._faults: list[Fault] = []
        self._lock = Lock()

    def add(
        self, cloud: str, name: str, action: Action, *, target: str = "*", nth: int = 1, times: int | None = 1
    ) -> Fault:
        """Add a line.

        Arguments:
            cloud: pattern (fnmatch) of the cloud, e.g. `aws` or `*`.
            name: pattern of the call's name, e.g. `eks.CreateNodegroup` or `eks.*`.
            action: Error, Delay, LostReply or Hook.
            target: pattern of the call's target.
            nth: the first matching call that it strikes, counted from 1 from now on.
            times: how many matching calls in a row it strikes; None for all from the nth on.

        Returns:
            The line: its counters say whether it has come into play; give it to `remove` to take it out.
        """
        fault = Fault(cloud=cloud, name=name, target=target, nth=nth, times=times, action=action)
        with self._lock:
            self._faults.append(fault)
        return fault

    def remove(self, fault: Fault) -> None:
        """Take a line out; one that is not there is no error."""
        with self._lock:
            self._faults = [other for other in self._faults if other is not fault]

    def clear(self) -> None:
        """Empty the script."""
        with self._lock:
            self._faults = []

    def strike(self, call: Call) -> tuple[Action, ...]:
        """Count the call in every line that fits, and return the actions that it is to suffer, in script order."""
        actions = []
        with self._lock:
            for fault in self._faults:
                if not fault.fits(call):
                    continue
                fault.matched += 1
                last = None if fault.times is None else fault.nth + fault.times - 1
                if fault.matched >= fault.nth and (last is None or fault.matched <= last):
                    fault.struck += 1
                    actions.append(fault.action)
        return tuple(actions)
