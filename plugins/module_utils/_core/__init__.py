# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The core of better_compute.fleet: everything that modules, daemon and API share.

Rooms, innermost first: model (words), documents (what people write), planning (what is to change), store (what is
recorded), providers and cluster (the outside), nodes and booking (our side of a machine), reconcile (one pass over one
pool), operations (what a caller may ask), ansible_io (the edge to Ansible). The layers are enforced by import-linter.

Nothing here imports a third-party package at module level: Ansible loads these files where none may be installed.
"""
