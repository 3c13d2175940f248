# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Libraries are imported where they are needed first, and passes run in many threads: one thread imports at a time.

Of two threads that import a package whose modules import each other, Python lets one go on with a module that is half
there (importlib's way out of a deadlock), which ends as an ImportError.
"""

from __future__ import annotations

from threading import RLock
from typing import Final

ONE_IMPORTS: Final = RLock()
"""Held around the import statements of kubernetes and of the providers' SDKs. Once they are loaded it costs nothing."""
