# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a caller can ask: the only door for modules, the HTTP API and the command line.

Error codes, permissions and idempotency live here once. Everything takes a Session (session.py).
"""
