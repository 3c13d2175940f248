# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What Alembic runs to get from a connection to the revisions. The transaction is the caller's."""

from __future__ import annotations

from alembic import context

from ansible_collections.better_compute.fleet.plugins.module_utils._core.store.tables import tables

context.configure(connection=context.config.attributes["connection"], target_metadata=tables().metadata)
context.run_migrations()
