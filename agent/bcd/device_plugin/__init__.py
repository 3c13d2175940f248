# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The Kubernetes device plugin (v1beta1): the kubelet gives to pods the GPUs that a reservation holds, and no others.

- wire: the API's messages. contents: what is advertised and what a container gets; decides, and is pure.
- devices: the GPUs of this machine as they are now. service: the answers to the kubelet's calls.
- registration: the socket, and being known to a kubelet that comes late, restarts, or says no.

Only `bcd run` on a machine with a kubelet imports this folder: it brings gRPC along, which joining does not need.
"""

from __future__ import annotations
