# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Plays a life's phases, each in a child process that can be killed at any point and started again."""

from __future__ import annotations

import multiprocessing
import os
import signal
from dataclasses import dataclass, field
from multiprocessing.context import ForkServerContext
from typing import Any, Final

from ansible_collections.better_compute.fleet.emulators.engine import Call, Hook, ReplyLost

from .child import PHASES, Orders, run
from .points import COMMIT, Passage, Point, Side, Strike
from .world import Scene, life_document, without_pools

_CHANGED: Final = life_document(most=3)
_DOCUMENTS: Final = {"change": _CHANGED, "again": _CHANGED, "prune": without_pools()}
"""What is declared in the later phases of a life."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """How a child ended.

    Attributes:
        struck: where it was killed; None when it came to its own end.
        result: what it returned then.
        reached: the points that it came through.
    """

    struck: Point | None
    result: dict[str, Any] = field(default_factory=dict)
    reached: tuple[Point, ...] = ()


def _never(_point: Point) -> bool:
    return False


class Life:
    """One life on one scene."""

    def __init__(self, scene: Scene) -> None:
        """Nothing is declared yet."""
        self.scene = scene
        self._context = _context()

    def run(self, phase: str, *, strike: Strike = _never) -> Ended:
        """Start a child for a phase and be its clock until it ends.

        Arguments:
            strike: the child is killed at the first point of which this is true.

        Raises:
            AssertionError: the child failed; with its traceback.
        """
        orders = Orders(
            phase=phase,
            document=_DOCUMENTS.get(phase, life_document()),
            environment=self.scene.environment,
            database_url=self.scene.database_url,
            now=self.scene.clock.now(),
        )
        ours, theirs = self._context.Pipe()
        process = self._context.Process(target=run, args=(orders, theirs), daemon=True)
        process.start()
        theirs.close()
        assert process.pid is not None
        passage = Passage(phase=phase, strike=strike)
        watch = self._watch_calls(passage, process.pid)
        fault = self.scene.engine.faults.add("*", "*", watch, times=None)
        try:
            result = self._serve(ours, passage, process.pid)
        finally:
            self.scene.engine.faults.remove(fault)
            if process.is_alive() and passage.struck is None and process.exitcode is None:
                process.join(timeout=10)
                process.kill()
            process.join()
            ours.close()
        if passage.struck is not None:
            assert process.exitcode == -signal.SIGKILL, process.exitcode
        process.close()
        return Ended(struck=passage.struck, result=result, reached=tuple(passage.reached))

    def play(self, *, strike: Strike = _never) -> dict[str, tuple[Ended, ...]]:
        """All phases to the end of the life, each run again for as long as its child is killed."""
        return {phase: self.finish(phase, strike=strike) for phase in PHASES}

    def finish(self, phase: str, *, strike: Strike = _never) -> tuple[Ended, ...]:
        """One phase to its own end: every child that it took."""
        ended = [self.run(phase, strike=strike)]
        while ended[-1].struck is not None:
            ended.append(self.run(phase, strike=strike))
        return tuple(ended)

    def _serve(self, connection: Any, passage: Passage, pid: int) -> dict[str, Any]:
        while True:
            try:
                match connection.recv():
                    case ("sleep", seconds):
                        self.scene.clock.advance(seconds)
                        connection.send(self.scene.clock.now())
                    case ("commit", side, name):
                        if passage.at(kind=COMMIT, name=name, side=side):
                            os.kill(pid, signal.SIGKILL)
                        else:
                            connection.send(None)
                    case ("done", result):
                        return dict(result)
                    case ("failed", told):
                        raise AssertionError(f"the child failed:\n{told}")
            except (EOFError, ConnectionResetError):
                assert passage.struck is not None, "the child went away by itself"
                return {}

    @staticmethod
    def _watch_calls(passage: Passage, pid: int) -> Hook:
        """Kills the child when it is to be killed at a call; a dead one's connection gets no answer."""

        def come(call: Call, side: Side) -> None:
            if passage.at(kind=call.cloud, name=f"{call.name} {call.target}".strip(), side=side):
                os.kill(pid, signal.SIGKILL)
                raise ReplyLost(call.name)

        def after(call: Call) -> None:
            if call.mutating:
                come(call, "after")

        return Hook(on_before=lambda call: come(call, "before"), on_after=after)


def _context() -> ForkServerContext:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([f"{__package__}.preload", "pytest"])
    return context
