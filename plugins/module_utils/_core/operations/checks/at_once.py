# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Many questions at once, within one time: whoever does not answer is left behind."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from queue import Empty, SimpleQueue
from typing import TypeVar

Key = TypeVar("Key")
Answer = TypeVar("Answer")


def ask_all(
    questions: Mapping[Key, Callable[[], Answer]], *, at_once: int, seconds: float, late: Answer
) -> dict[Key, Answer]:
    """Ask all of them.

    The threads end with the process: a question that hangs holds nobody up.

    Arguments:
        questions: what to call, by name; none of them raises.
        at_once: how many at a time.
        seconds: for all of them together.
        late: what is noted for those that did not answer.

    Returns:
        The answers in the questions' order.
    """
    waiting: SimpleQueue[tuple[Key, Callable[[], Answer]]] = SimpleQueue()
    answered: SimpleQueue[tuple[Key, Answer]] = SimpleQueue()
    for key, question in questions.items():
        waiting.put((key, question))
    deadline = time.monotonic() + seconds

    def work() -> None:
        while time.monotonic() < deadline:
            try:
                key, question = waiting.get_nowait()
            except Empty:
                return
            answered.put((key, question()))

    for _thread in range(min(at_once, len(questions))):
        threading.Thread(target=work, name="bc-fleetd-check", daemon=True).start()
    answers = dict.fromkeys(questions, late)
    for _question in questions:
        try:
            key, answer = answered.get(timeout=max(0.0, deadline - time.monotonic()))
        except Empty:
            break
        answers[key] = answer
    return answers
