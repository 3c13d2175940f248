# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The shape of the objects that the emulated API takes: one description for decoding, ownership and merging.

Only what the product sends is described; a field that is not here is unknown and refused, as a kube-apiserver refuses
misspelt ones (fieldValidation=Strict). List keys and atomic maps are those of Kubernetes' OpenAPI document
(x-kubernetes-list-map-keys, x-kubernetes-map-type).
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Leaf:
    """A plain value of one of these types."""

    types: tuple[type, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Struct:
    """A map with known fields. `atomic`: owned and replaced as a whole."""

    fields: Mapping[str, Schema]
    atomic: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class StringMap:
    """A map of any keys to strings, which may have to be quantities (`10m`, `64Mi`) or base64."""

    atomic: bool = False
    quantities: bool = False
    base64: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Items:
    """A list. With `key` its items are merged by that field; without, it is owned and replaced as a whole.

    `is_set`: its items are owned one by one, and united.
    """

    item: Schema
    key: str | None = None
    is_set: bool = False


_QUANTITY = re.compile(r"[+-]?[0-9]+(\.[0-9]*)?([KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]+)?", re.ASCII)

Schema = Leaf | Struct | StringMap | Items

TEXT = Leaf((str,))
NUMBER = Leaf((int,))
FLAG = Leaf((bool,))
TEXT_OR_NUMBER = Leaf((str, int))


def _struct(*, atomic: bool = False, **fields: Schema) -> Struct:
    return Struct(fields=fields, atomic=atomic)


METADATA = _struct(
    name=TEXT,
    namespace=TEXT,
    uid=TEXT,
    resourceVersion=TEXT,
    labels=StringMap(),
    annotations=StringMap(),
)

_KEY_SELECTOR = _struct(atomic=True, name=TEXT, key=TEXT, optional=FLAG)
_RESOURCES = _struct(requests=StringMap(quantities=True), limits=StringMap(quantities=True))
_CONTAINER = _struct(
    name=TEXT,
    image=TEXT,
    command=Items(item=TEXT),
    env=Items(
        item=_struct(
            name=TEXT,
            value=TEXT,
            valueFrom=_struct(
                configMapKeyRef=_KEY_SELECTOR, fieldRef=_struct(atomic=True, apiVersion=TEXT, fieldPath=TEXT)
            ),
        ),
        key="name",
    ),
    volumeMounts=Items(item=_struct(name=TEXT, mountPath=TEXT, readOnly=FLAG), key="mountPath"),
    resources=_RESOURCES,
    securityContext=_struct(privileged=FLAG, runAsUser=NUMBER, readOnlyRootFilesystem=FLAG),
    imagePullPolicy=TEXT,
    terminationMessagePath=TEXT,
    terminationMessagePolicy=TEXT,
)
_POD = _struct(
    nodeSelector=StringMap(atomic=True),
    tolerations=Items(item=_struct(operator=TEXT, key=TEXT, value=TEXT, effect=TEXT)),
    runtimeClassName=TEXT,
    automountServiceAccountToken=FLAG,
    enableServiceLinks=FLAG,
    initContainers=Items(item=_CONTAINER, key="name"),
    containers=Items(item=_CONTAINER, key="name"),
    volumes=Items(
        item=_struct(
            name=TEXT,
            hostPath=_struct(path=TEXT, type=TEXT),
            secret=_struct(secretName=TEXT, optional=FLAG, defaultMode=NUMBER),
        ),
        key="name",
    ),
    restartPolicy=TEXT,
    dnsPolicy=TEXT,
    schedulerName=TEXT,
    securityContext=_struct(),
    terminationGracePeriodSeconds=NUMBER,
)
DAEMON_SET_SPEC = _struct(
    selector=_struct(atomic=True, matchLabels=StringMap()),
    updateStrategy=_struct(type=TEXT, rollingUpdate=_struct(maxUnavailable=TEXT_OR_NUMBER, maxSurge=TEXT_OR_NUMBER)),
    template=_struct(metadata=_struct(labels=StringMap(), annotations=StringMap()), spec=_POD),
    revisionHistoryLimit=NUMBER,
)

_LABEL_SELECTOR = _struct(atomic=True, matchLabels=StringMap())
_TEXTS = Items(item=TEXT)

ROLE_REF = _struct(atomic=True, apiGroup=TEXT, kind=TEXT, name=TEXT)
ROLE_SUBJECTS = Items(item=_struct(apiGroup=TEXT, kind=TEXT, name=TEXT, namespace=TEXT))
POLICY_RULES = Items(item=_struct(apiGroups=_TEXTS, resources=_TEXTS, verbs=_TEXTS))
AGGREGATION_RULE = _struct(clusterRoleSelectors=Items(item=_LABEL_SELECTOR))
ADMISSION_POLICY_SPEC = _struct(
    failurePolicy=TEXT,
    matchConstraints=_struct(
        atomic=True,
        matchPolicy=TEXT,
        namespaceSelector=_LABEL_SELECTOR,
        objectSelector=_LABEL_SELECTOR,
        resourceRules=Items(
            item=_struct(apiGroups=_TEXTS, apiVersions=_TEXTS, operations=_TEXTS, resources=_TEXTS, scope=TEXT)
        ),
    ),
    matchConditions=Items(item=_struct(name=TEXT, expression=TEXT), key="name"),
    validations=Items(item=_struct(expression=TEXT, message=TEXT, reason=TEXT)),
)
ADMISSION_BINDING_SPEC = _struct(policyName=TEXT, validationActions=Items(item=TEXT, is_set=True))


def top_level(**fields: Schema) -> Struct:
    """The schema of a whole object: what every object has, and these fields."""
    return Struct(fields={"apiVersion": TEXT, "kind": TEXT, "metadata": METADATA, **fields})


class Undecodable(Exception):
    """A value that the schema does not allow, and where."""


def check(schema: Schema, value: Any, path: str = "", *, keyed: bool = False) -> None:
    """Decode strictly.

    Arguments:
        keyed: whether items that are merged by a key need it, each another one (as applies do, and creates do not).

    Raises:
        Undecodable: for an unknown field or a value of the wrong type.
    """
    if isinstance(schema, Leaf):
        # bool is an int to Python, and not to the API.
        if type(value) not in schema.types:
            raise Undecodable(f"{path or '.'}: {type(value).__name__}")
    elif isinstance(schema, Items):
        if not isinstance(value, list):
            raise Undecodable(f"{path}: {type(value).__name__} instead of a list")
        for index, item in enumerate(value):
            check(schema.item, item, f"{path}[{index}]", keyed=keyed)
        keys = [item.get(schema.key) for item in value] if keyed and schema.key is not None else []
        if None in keys or len(set(keys)) < len(keys):
            raise Undecodable(f"{path}: an item without {schema.key}, or two with the same")
    else:
        if not isinstance(value, dict):
            raise Undecodable(f"{path or '.'}: {type(value).__name__} instead of an object")
        for key, inner in value.items():
            below = f"{path}.{key}" if path else key
            if isinstance(schema, StringMap):
                check(TEXT, inner, below)
                if schema.quantities and not _QUANTITY.fullmatch(inner):
                    raise Undecodable(f"{below}: no quantity")
                if schema.base64 and not _is_base64(inner):
                    raise Undecodable(f"{below}: illegal base64 data")
            elif key not in schema.fields:
                raise Undecodable(f'unknown field "{below}"')
            else:
                check(schema.fields[key], inner, below, keyed=keyed)


def _is_base64(text: str) -> bool:
    try:
        base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return False
    return True
