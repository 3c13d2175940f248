# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""`make quickstart`: the product's whole life on emulated clouds, from one document to nothing left.

__main__.py tells the story, stage.py starts and stops what it needs, playbook.py runs Ansible, report.py prints.
It uses the product as a person would: settings file, daemon, playbook, modules. The product needs nothing of it.
"""
