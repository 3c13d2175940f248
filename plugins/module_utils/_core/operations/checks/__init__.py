# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What `bc-fleetd doctor` looks at. Nothing here changes anything anywhere, and nothing takes longer than its time.

- fleet: all checks of an opened database, in their order.
- recorded: what the records alone tell. accounts, endpoints: a try of each provider account, and of each cluster's API.
- one_cause: what is told of an account, and not again of what stands on it.
- files: what others could read or write on this host. at_once: many questions within one time.
"""
