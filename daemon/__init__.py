# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""bc-fleetd, the companion daemon: it runs due passes for ever, and is the gateway that every node's bcd talks to.

command_line.py is what a person starts; gateway/ is bcd's side. Everything else it does, it asks of operations/.
"""
