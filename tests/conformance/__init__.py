# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the reconcile pass needs of any provider's driver, as cases for whoever writes one.

Write a Subject for the provider (its vocabulary, its emulator, how to break a call there) and run every case of CASES
on a fresh one; test_eks.py is an example. Where a provider lacks something, its Capabilities say so, and the cases
look at them.
"""
