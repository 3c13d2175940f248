# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes answers.json: asks every probe of the real kube-apiserver. Needs `make controlplane` to have been run once.

`python -m ansible_collections.better_compute.fleet.tests.kubernetes_probes.record`, with build/ and agent/ on the path
(the virtual environment of `make venv` has them). Look at the difference before you commit it: it is what a newer
Kubernetes answers otherwise, and the emulated API has to follow.
"""

from __future__ import annotations

import sys

from ansible_collections.better_compute.fleet.tests.support.controlplane import program
from ansible_collections.better_compute.fleet.tests.support.controlplane.cluster import RealCluster
from ansible_collections.better_compute.fleet.tests.support.controlplane.server import running_control_plane

from .answers import write_answers
from .probes import PROBES
from .real import real_subject


def main() -> None:
    """Ask and write."""
    recorded = {}
    with running_control_plane(program.find()) as plane:
        cluster = RealCluster(admin=plane.admin, admin_token=plane.credentials.admin_token, reviews=plane.reviews)
        for name, probe in PROBES.items():
            cluster.empty()
            with real_subject(plane, cluster) as subject:
                recorded[name] = probe(subject)
            sys.stdout.write(f"{name}\n")
    write_answers(recorded)


if __name__ == "__main__":
    main()
