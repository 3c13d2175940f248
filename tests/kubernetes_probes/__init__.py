# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One suite of probes for every request that the product sends to a Kubernetes API, asked of the real one and of ours.

`requests_sent.json` is the list of those requests (requests_sent.py reads it, and a guard in tests/integration fails
whatever is sent beside it). A probe is a function of an ApiSubject that sends some of them, well and badly, and
returns what was answered and what is then stored, without names, uids and times of the day. `answers.json` holds what a
real kube-apiserver says; record.py writes it. The emulated API must say the same, wherever the tests run, and so
must the real one where it is at hand. What is not in the list the emulated API must refuse (test_nothing_more.py).

When the product sends something new: let product_life.py do it too and run that file as a module, which writes the list
anew; have the emulated API answer it; write its probes; and run record.py, which asks the real API.
"""
