# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How long to wait before the next try: doubling, capped, with jitter."""

from __future__ import annotations

import random
from dataclasses import dataclass

FIRST_SECONDS = 1.0
# Two heartbeats: once the gateway is back, everybody is heard of before the third is missed.
LONGEST_SECONDS = 20.0


@dataclass(slots=True)
class Backoff:
    """The waits of one series of failed tries.

    Attributes:
        chance: what the jitter comes from.
        failures: tries that failed since the last success.
        first_seconds: the longest wait after the first failure.
    """

    chance: random.Random
    failures: int = 0
    first_seconds: float = FIRST_SECONDS

    def next_seconds(self) -> float:
        """The wait after one more failure: between half of and the whole of 1, 2, 4 … 20 s.

        The jitter keeps a thousand nodes that lost their gateway at one moment from coming back at one moment.
        """
        ceiling = min(LONGEST_SECONDS, self.first_seconds * 2.0 ** min(self.failures, 10))
        self.failures += 1
        return ceiling * self.chance.uniform(0.5, 1.0)

    def reset(self) -> None:
        """A try succeeded."""
        self.failures = 0
