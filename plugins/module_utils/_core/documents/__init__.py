# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What people write: the FleetConfig document and the settings. Text in, plain valid values out.

Nothing here knows records, providers or Ansible. pydantic is used in this room only. Import from the file that has it
(load, schema, settings, written): a module that needs the settings alone does not wait for the document's models.
"""
