# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Google Kubernetes Engine in the contract's words: the parts that need no call.

- resource_labels: our tags as Google's resource labels, and back.
- errors: Google's error replies and a resource's conditions as ProviderErrors.
"""
