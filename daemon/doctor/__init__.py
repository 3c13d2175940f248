# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""`bc-fleetd doctor`: what is wrong with this deployment, and what to do.

- examining: all checks, in their order. this_host: files. certificate: what gateway and API show.
- addresses: where both listen, and the gateway as bcd reaches it. shown_key: what a server shows.
- printing: the checks for a person, and for machines.

What is looked at in the fleet is in the collection's operations/checks.
"""
