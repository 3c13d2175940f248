# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The emulated clouds, Kubernetes APIs and machines on loopback: for the quickstart, tests, benchmarks and conformance.

Nothing here imports plugins/ or daemon/; only tests and the quickstart import this. `python -m
ansible_collections.better_compute.fleet.emulators` starts everything in one process (world.py).
"""
