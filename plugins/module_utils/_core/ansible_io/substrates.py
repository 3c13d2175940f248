# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""bc_substrate and bc_substrate_info: one pool's policy in, what stands behind it out."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ansible.module_utils.basic import AnsibleModule

from ..documents.spelling import camel
from ..model.errors import InvalidInput, Problem
from ..model.ids import PoolId, TenantId
from ..operations import substrate_edits, substrates
from ..operations.drivers import drivers
from ..operations.fleet import PlannedFleet
from ..operations.session import Session
from .edge import run_module
from .settling import carry_out, told
from .waiting import WAIT_ARGUMENTS, wait_timeout

POOL_ARGUMENTS: dict[str, dict[str, Any]] = {
    "pool": {"type": "str"},
    "tenant": {"type": "str", "default": "platform"},
}

_FLAVOR: dict[str, dict[str, Any]] = {
    "name": {"type": "str", "required": True},
    "machine_type": {"type": "str"},
    "nodes": {"type": "int"},
    "gpus": {"type": "dict", "options": {"type": {"type": "str"}, "count": {"type": "int"}}},
    "spot": {"type": "bool"},
    "disk_gib": {"type": "int"},
    "disk_type": {"type": "str"},
    "zones": {"type": "list", "elements": "str"},
    "autoscaling": {
        "type": "dict",
        "options": {"enabled": {"type": "bool"}, "min_nodes": {"type": "int"}, "max_nodes": {"type": "int"}},
    },
    "labels": {"type": "dict"},
    "taints": {
        "type": "list",
        "elements": "dict",
        "options": {
            "key": {"type": "str", "required": True, "no_log": False},
            "value": {"type": "str"},
            "effect": {"type": "str", "required": True},
        },
    },
}

_CREATE: dict[str, dict[str, Any]] = {
    "location": {"type": "str"},
    "private_nodes": {"type": "bool"},
    "version": {"type": "str"},
}

SUBSTRATE_ARGUMENTS: dict[str, dict[str, Any]] = {
    "pool": {"type": "str", "required": True},
    "tenant": {"type": "str", "default": "platform"},
    "account": {"type": "str"},
    "cluster": {
        "type": "dict",
        "options": {"create": {"type": "dict", "options": _CREATE}, "adopt": {"type": "str"}},
        "mutually_exclusive": [("create", "adopt")],
        "required_one_of": [("create", "adopt")],
    },
    "flavors": {"type": "list", "elements": "dict", "options": _FLAVOR},
    "upgrades": {"type": "str", "choices": ["manual", "drain"]},
    "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
    "prune": {"type": "bool", "default": False},
    "refresh": {"type": "bool", "default": True},
    **WAIT_ARGUMENTS,
}

_EDITED = ("account", "cluster", "flavors", "upgrades")

_SPELT_AS_GIVEN = "labels"
"""Keys below it are the caller's own, not the document's."""

_DOCUMENT_KEYS = {"diskGiB": "disk_gib"} | {
    camel(name): name for name in ("machine_type", "disk_type", "min_nodes", "max_nodes", "private_nodes")
}
"""The document's keys -> the module's, where they differ."""

_MODULE_KEYS = {name: key for key, name in _DOCUMENT_KEYS.items()}

_KEY = re.compile(r"[A-Za-z]+")


def run_substrate() -> None:
    """The module bc_substrate."""
    run_module(SUBSTRATE_ARGUMENTS, _converge, drivers=drivers)


def run_substrate_info() -> None:
    """The module bc_substrate_info."""
    run_module(POOL_ARGUMENTS, _read, only_reads=True)


def _read(module: AnsibleModule, session: Session) -> Mapping[str, Any]:
    pool, tenant_id = module.params["pool"], TenantId(module.params["tenant"])
    if pool is None:
        views = tuple(v for v in substrates.list_substrates(session) if v.record.tenant_id == tenant_id)
    else:
        views = (substrates.get_substrate(session, pool=pool, tenant_id=tenant_id),)
    return {"changed": False, "substrates": told(views)}


def _converge(module: AnsibleModule, session: Session) -> Mapping[str, Any]:
    timeout = wait_timeout(module.params)
    planned, pool_id = _plan(module.params, session)
    about = [pool_id] if pool_id is not None else []
    result, views = carry_out(module, session, planned, timeout=timeout, about=about)
    if views is None:
        return result
    where = views[0].standing if views else f"pool {module.params['pool']} has no substrate"
    return {"msg": where, **result, "substrate": _one(views)}


def _plan(params: Mapping[str, Any], session: Session) -> tuple[PlannedFleet, PoolId | None]:
    pool, tenant_id, edit = params["pool"], TenantId(params["tenant"]), _edit(params)
    if params["state"] == "absent":
        if edit:
            given = ", ".join(edit)
            raise InvalidInput([Problem(path="state", message=f"absent takes the pool away: leave out {given}")])
        planned, record = substrate_edits.plan_archiving(session, pool=pool, tenant_id=tenant_id)
        return planned, record.id if record is not None else None
    try:
        planned, record = substrate_edits.plan_substrate(
            session, pool=pool, tenant_id=tenant_id, edit=edit, prune=params["prune"], refresh=params["refresh"]
        )
    except InvalidInput as error:
        problems = [Problem(path=_module_path(each.path), message=each.message) for each in error.problems]
        raise InvalidInput(problems) from None
    return planned, record.id


def _edit(params: Mapping[str, Any]) -> dict[str, Any]:
    """What was given of the substrate, as a document spells it."""
    return {name: _spelt(params[name]) for name in _EDITED if params[name] is not None}


def _spelt(value: Any) -> Any:
    """Plain data in the document's spelling, without what was not given."""
    if isinstance(value, list):
        return [_spelt(item) for item in value]
    if isinstance(value, dict):
        return {
            _MODULE_KEYS.get(name, name): below if name == _SPELT_AS_GIVEN else _spelt(below)
            for name, below in value.items()
            if below is not None
        }
    return value


def _module_path(path: str) -> str:
    """A path in the document's spelling in the module's."""
    known, mark, own = path.partition(f".{_SPELT_AS_GIVEN}")
    return _KEY.sub(lambda key: _DOCUMENT_KEYS.get(key[0], key[0]), known) + mark + own


def _one(views: tuple[substrates.SubstrateView, ...]) -> dict[str, Any] | None:
    """The one pool's substrate as modules return it; None where it never had one."""
    return told(views)[0] if views else None
