# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The cluster side: what is read and kept in a pool's Kubernetes cluster, over its API.

One file a purpose: access (our own short-lived credential), claim (one cluster, one pool), agent (bcd), join_secret,
node_list. All of it is raw JSON over `api.ClusterApi`. It knows only model, and the kubernetes package is loaded only
when a cluster is really called. Nodes are read and never written.
"""
