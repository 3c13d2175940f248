# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Passes run in many threads, and the first of each needs the libraries at the same moment as the others'."""

from __future__ import annotations

import os
import subprocess
import sys

PROGRAM = """
import sys, threading
from ansible_collections.better_compute.fleet.plugins.module_utils._core.cluster import api
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.clock import SystemClock
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers import gke
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.gke.clients import Clients
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.gke.settings import GkeSettings

sys.setswitchinterval(1e-5)
together, went_wrong = threading.Barrier(12), []


def first(number):
    together.wait()
    try:
        if number % 3 == 0:
            api.require_client()
        elif number % 3 == 1:
            api._connection_pool("https://127.0.0.1:9", "")
        else:
            clients = Clients(settings=GkeSettings(project="p", endpoint_url="http://127.0.0.1:9"), tokens=None)
            clients.gke
    except api.ClusterError:
        pass  # that is no certificate; the libraries were there
    except BaseException as error:
        went_wrong.append(repr(error))


threads = [threading.Thread(target=first, args=(number,)) for number in range(12)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(went_wrong)
"""


def test_many_threads_that_need_the_libraries_for_the_first_time_all_get_them() -> None:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("COV_")}
    done = subprocess.run([sys.executable, "-c", PROGRAM], env=kept, capture_output=True, text=True, check=False)
    assert (done.stdout, done.returncode) == ("[]\n", 0), done.stderr
