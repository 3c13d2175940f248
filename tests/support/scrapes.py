# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a scrape says, read as Prometheus reads it."""

from __future__ import annotations

from dataclasses import dataclass

from prometheus_client.parser import text_string_to_metric_families

from ansible_collections.better_compute.fleet.daemon.metrics import Metrics


@dataclass(frozen=True, slots=True, kw_only=True)
class Scrape:
    """One scrape.

    Attributes:
        text: as it was sent.
        families: each family's type and help, by name.
        samples: each sample's value, by its name and labels.
    """

    text: str
    families: dict[str, tuple[str, str]]
    samples: dict[tuple[str, frozenset[tuple[str, str]]], float]

    def value(self, name: str, /, **labels: str) -> float:
        """The one sample of that name and exactly these labels.

        Raises:
            KeyError: there is none.
        """
        return self.samples[name, frozenset(labels.items())]

    def labels_of(self, name: str) -> list[dict[str, str]]:
        """The labels of all samples of that name."""
        return [dict(labels) for sample, labels in self.samples if sample == name]


def scrape(metrics: Metrics) -> Scrape:
    """Ask for everything, and read it."""
    body, content_type = metrics.render()
    assert content_type.startswith("text/plain; version=0.0.4")
    text = body.decode()
    families = list(text_string_to_metric_families(text))
    samples = [sample for family in families for sample in family.samples]
    made = {(one.name, frozenset(one.labels.items())): one.value for one in samples}
    assert len(made) == len(samples), "no sample is there twice"
    return Scrape(text=text, families={one.name: (one.type, one.documentation) for one in families}, samples=made)
