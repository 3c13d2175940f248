# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Pages of lists as DigitalOcean cuts them, for what pydo does not let through."""

from __future__ import annotations

import pytest

from ansible_collections.better_compute.fleet.emulators.digitalocean import Refusal
from ansible_collections.better_compute.fleet.emulators.digitalocean.pages import page

URL = "https://api/v2/droplets"


def test_a_page_has_two_hundred_at_most_and_links_keep_the_rest_of_the_query() -> None:
    answer = page("droplets", range(201), query={"per_page": "500", "tag_name": "k8s:1"}, url=URL)
    assert len(answer["droplets"]) == 200
    assert answer["links"]["pages"]["next"] == f"{URL}?per_page=200&tag_name=k8s%3A1&page=2"


def test_a_page_beyond_the_last_is_empty() -> None:
    assert page("droplets", range(3), query={"page": "9"}, url=URL)["droplets"] == []


@pytest.mark.parametrize("query", [{"page": "0"}, {"page": "x"}, {"per_page": "-1"}])
def test_what_is_no_page_is_refused(query: dict[str, str]) -> None:
    with pytest.raises(Refusal, match="422 unprocessable_entity"):
        page("droplets", [], query=query, url=URL)
