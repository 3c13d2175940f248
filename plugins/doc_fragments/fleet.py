# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What every module of the collection documents: where the records are, and what must be installed."""

from __future__ import annotations


class ModuleDocFragment:
    """Options and notes that the modules share."""

    DOCUMENTATION = r"""
options:
  database_url:
    description:
      - Where the fleet is recorded, as an SQLAlchemy URL, for example V(sqlite:////var/lib/better-compute/fleet.db) or
        V(postgresql+psycopg://fleet@db.example/fleet).
      - Without it, the settings decide; without those, a SQLite file in C(/var/lib/better-compute) when that folder
        exists, else in the user's own state folder.
      - A SQLite file that is not there yet is made by whatever records something, with a warning; its folder
        only where nobody named it. Modules that only read, and check mode, make none; they find an empty fleet, and
        warn.
    type: str
  settings:
    description:
      - The settings file that modules and C(bc-fleetd) share (TOML).
      - Without it, the file that E(BC_FLEET_SETTINGS) names, else C(/etc/better-compute/fleet.toml) where there is one.
    type: path
requirements:
  - pydantic >= 2.12
  - sqlalchemy >= 2.0.40
  - kubernetes >= 34
  - pyyaml >= 6.0.3 (for documents in YAML and kubeconfigs)
  - boto3 >= 1.42 (for accounts of provider V(aws))
  - google-cloud-container >= 2.60 (for accounts of provider V(gcp))
  - cryptography >= 46 (for accounts of provider V(gcp), whose requests for tokens are signed with it)
  - pydo >= 0.20 (for accounts of provider V(digitalocean))
  - psycopg[binary] >= 3.2 (for records in PostgreSQL)
"""

    READ_ONLY = r"""
options: {}
attributes:
  check_mode:
    description: Only reads, so a check run is like any other.
    support: full
  diff_mode:
    description: Never changes anything, so there is no difference to show.
    support: N/A
"""
