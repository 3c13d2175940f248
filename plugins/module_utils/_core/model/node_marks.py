# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Kubernetes labels and taints that people declare: what is wrong with them, in the words of the one who wrote them.

Source: Kubernetes, "Labels and Selectors" (syntax) and "Well-Known Labels" (reserved prefixes).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from .capabilities import Capabilities
from .declared import Taint
from .limits import MOST_LABELS, MOST_TAINTS, TAINT_EFFECTS

_NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?", re.ASCII)
_DNS_LABEL = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?", re.ASCII)
_MOST_PREFIX_CHARACTERS = 253
_SHOWN_CHARACTERS = 60

_OURS = ("better-compute.dev", "bc.dev")
_KUBERNETES = ("kubernetes.io", "k8s.io")
_PROVIDERS = ("eks.amazonaws.com", "cloud.google.com", "doks.digitalocean.com")

_KEY = (
    "expected a name of 1 to 63 ASCII letters, digits, '.', '_' or '-' (a letter or digit at both ends), with or "
    "without a DNS name and '/' before it"
)
_VALUE = "expected at most 63 ASCII letters, digits, '.', '_' or '-', with a letter or digit at both ends"


def label_problems(labels: Mapping[str, object], *, empty_values: bool) -> Iterator[tuple[str | None, str]]:
    """What is wrong with labels, each as (key, why); the key is None where it is about all of them.

    Arguments:
        empty_values: whether the provider takes a label without a value (EKS does not).
    """
    if len(labels) > MOST_LABELS:
        yield None, f"expected at most {MOST_LABELS} labels, found {len(labels)}"
    for key, value in labels.items():
        if not is_key(key):
            yield key, _KEY
        elif reason := _reserved(key):
            yield key, reason
        if not isinstance(value, str):
            yield key, f"expected text, found {_shown(str(value))}: put it in quotes"
        elif value == "":
            if not empty_values:
                yield key, "expected a value: this provider takes no label without one"
        elif not _NAME.fullmatch(value):
            yield key, f"{_VALUE}, found {_shown(value)}"


def taint_problems(taints: Sequence[Taint]) -> Iterator[tuple[int | None, str, str]]:
    """What is wrong with taints, each as (index, field, why); the index is None where it is about all of them."""
    if len(taints) > MOST_TAINTS:
        yield None, "", f"expected at most {MOST_TAINTS} taints, found {len(taints)}"
    seen: dict[tuple[str, str], int] = {}
    for index, taint in enumerate(taints):
        if not is_key(taint.key):
            yield index, "key", f"{_KEY}, found {_shown(taint.key)}"
        if taint.value and not _NAME.fullmatch(taint.value):
            yield index, "value", f"{_VALUE}, found {_shown(taint.value)}"
        if taint.effect not in TAINT_EFFECTS:
            yield index, "effect", f"expected one of {', '.join(TAINT_EFFECTS)}, found {_shown(taint.effect)}"
        first = seen.setdefault((taint.key, taint.effect), index)
        if first != index:
            yield index, "key", f"key and effect are there twice: also at [{first}]"


def is_key(text: str) -> bool:
    """Whether the text is a label's or taint's key: a name, with or without a DNS name and '/' before it."""
    prefix, slash, name = text.rpartition("/")
    if not _NAME.fullmatch(name):
        return False
    if not slash:
        return True
    return len(prefix) <= _MOST_PREFIX_CHARACTERS and all(_DNS_LABEL.fullmatch(part) for part in prefix.split("."))


def long_keys(keys: Iterable[str], can: Capabilities) -> Iterator[tuple[int, str]]:
    """Keys of labels or taints that are sound and that the provider does not take, each as (index, why)."""
    for index, key in enumerate(keys):
        if len(key) > can.max_mark_key and is_key(key):
            yield index, f"{can.title} takes keys of at most {can.max_mark_key} characters, this one has {len(key)}"


def is_reserved(key: str) -> bool:
    """Whether a label of this key is ours, Kubernetes' or a provider's: what people declare says nothing about it."""
    return bool(_reserved(key))


def _reserved(key: str) -> str:
    """Why a label of this key is not for people to set; empty if it is."""
    domain, slash, _name = key.rpartition("/")
    if not slash:
        return ""
    if _within(domain, _OURS):
        return f"labels under {domain}/ are this product's own: take another prefix"
    if _within(domain, _KUBERNETES):
        return f"labels under {domain}/ are Kubernetes' own, and providers refuse them: take another prefix"
    if _within(domain, _PROVIDERS):
        return f"labels under {domain}/ are the provider's own: take another prefix"
    return ""


def _within(domain: str, owners: Sequence[str]) -> bool:
    return any(domain == owner or domain.endswith(f".{owner}") for owner in owners)


def _shown(text: str) -> str:
    return repr(text[:_SHOWN_CHARACTERS]) + ("…" if len(text) > _SHOWN_CHARACTERS else "")
