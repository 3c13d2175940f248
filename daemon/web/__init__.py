# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the daemon's two HTTPS servers share: the gateway that bcd talks to (daemon/gateway) and the API (daemon/api).

certificate.py makes the key; protocol.py and requests.py bound what comes in; bad_tokens.py bounds how often somebody
guesses; store_calls.py asks the store; answers.py refuses; server.py runs it all. Nothing here knows a call by name.
"""
