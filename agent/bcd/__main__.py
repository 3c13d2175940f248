# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""`python -m bcd`: the command line without an installed console script."""

from __future__ import annotations

from .command import main

if __name__ == "__main__":
    raise SystemExit(main())
