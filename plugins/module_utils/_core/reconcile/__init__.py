# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One pass over one pool: take its lease, look, take the next safe steps, write back, say when to come again.

Start with passes.py (the pass), then steps/ (one file for each step, in the order of passes.RUN and
passes.TEAR_DOWN), then verdict.py (the pure part: from what the steps said to the state a person sees).
"""
