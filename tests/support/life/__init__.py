# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A fleet's life in one test: the emulated world, the gateway and a database here, the product's process as a child.

world.py is the scene, child.py what the child does, preload.py what it is forked with, points.py where it can be
killed, life.py plays the phases, outcome.py tells what they led to.
"""

from __future__ import annotations

from ..memory_folder import memory_folder
from .life import Ended, Life
from .outcome import accepted, remains, standing
from .points import Point
from .world import Scene, scene

__all__ = ["Ended", "Life", "Point", "Scene", "accepted", "memory_folder", "remains", "scene", "standing"]
