# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The document's front door: text to plain data, plain data to a valid FleetConfig, or every problem at once."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

from ..model.declared import Account, CreateCluster, Flavor, FleetConfig, Gpus, Pool, Quota, Site, Substrate
from ..model.errors import InvalidInput, Problem
from ..model.ids import TenantId
from . import json_text, yaml_text
from .bounds import MAX_DOCUMENT_BYTES, check_shape, check_size
from .fleet_config import ENTRIES, REFUSED, AwsAccountModel, FleetConfigModel, PoolModel, SubstrateModel
from .problems import Told, found, from_pydantic, nulls
from .pydantic_shim import BaseModel, ValidationError, require_pydantic
from .references import references
from .spelling import KeyPath

Model = TypeVar("Model", bound=BaseModel)

_PROVIDERS_TO_COME = frozenset({"gcp", "digitalocean"})


def load_text(text: str, name: str) -> object:
    """Read a document's text as plain data.

    Arguments:
        text: JSON or YAML, at most MAX_DOCUMENT_BYTES characters.
        name: the file's name; its ending says which of the two (`.json`, `.yml`, `.yaml`); without one, a text that
            opens with a brace is JSON.

    Raises:
        InvalidInput: it is not readable, or holds what YAML readers understand differently.
    """
    check_size(len(text), name or "the text")
    text = text.removeprefix("\ufeff")
    lowered = name.lower()
    if lowered.endswith((".yml", ".yaml")):
        return yaml_text.load(text)
    if lowered.endswith(".json") or text.lstrip().startswith("{"):
        return json_text.load(text)
    return yaml_text.load(text)


def load_file(path: Path | str) -> object:
    """Read a document's file as plain data; see :func:`load_text`.

    Raises:
        InvalidInput: it cannot be read, is too large, or is not what load_text takes.
    """
    if "\0" in str(path):
        raise InvalidInput([Problem(path="", message="no file's name has a NUL in it")])
    try:
        with Path(path).open("rb") as stream:
            return load_stream(stream, str(path))
    except OSError as error:
        raise InvalidInput([Problem(path="", message=f"{path} cannot be read: {error.strerror}")]) from None


def load_stream(stream: BinaryIO, name: str) -> object:
    """Read a document from an open file or pipe as plain data; see :func:`load_text`. No more is read than is taken.

    Raises:
        InvalidInput: it is too large, or is not what load_text takes.
        OSError: it cannot be read.
    """
    with suppress(OSError):  # what has no descriptor has no size to know beforehand
        check_size(os.fstat(stream.fileno()).st_size, name)
    content = stream.read(MAX_DOCUMENT_BYTES + 1)
    check_size(len(content), name)
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        raise InvalidInput([Problem(path="", message=f"{name} is not UTF-8 text")]) from None
    return load_text(text, name)


def parse_document(data: object) -> FleetConfig:
    """Check plain data (mappings, lists, strings, numbers, booleans) and make it a FleetConfig.

    Raises:
        InvalidInput: with every problem, each with its path as the document spells it; of very many, the first hundred.
        ModuleNotFoundError: pydantic is missing.
    """
    require_pydantic()
    if not isinstance(data, Mapping):
        raise InvalidInput([Problem(path="", message=f"expected a FleetConfig (a mapping), found {found(data)}")])
    check_shape(data)
    document = _checked(data)
    return FleetConfig(
        version=document.version,
        sites=tuple(
            Site(name=site.name, kind=site.kind, region=site.region, tenant_id=TenantId(site.tenant_id))
            for site in document.sites
        ),
        accounts=tuple(_account(account) for account in document.provider_accounts),
        pools=tuple(_pool(pool) for pool in document.pools),
        quotas=tuple(
            Quota(pool=quota.pool, gpus=quota.gpus, tenant_id=TenantId(quota.tenant_id)) for quota in document.quotas
        ),
    )


def _checked(data: Mapping[str, Any]) -> FleetConfigModel:
    """The document as its model, when there is nothing wrong with it.

    Entries are validated one by one: pydantic would hold every problem of a document in memory before it told the
    first.
    """
    told = Told()
    sections = {key: value for key, value in data.items() if key in ENTRIES and isinstance(value, list)}
    frame, around = _validated(FleetConfigModel, {**data, **{key: [] for key in sections}}, (), data)
    told.add(each for each in around if each[0] == ("version",))
    entries: dict[str, list[BaseModel]] = {}
    for key, (name, model) in ENTRIES.items():
        entries[name] = []
        for index, item in enumerate(sections.get(key, ())):
            entry, problems = _validated(model, item, (key, index), data)
            told.add(problems)
            if entry is not None:
                entries[name].append(entry)
    told.add(each for each in around if each[0] != ("version",))
    told.add(references(data))
    told.raise_any()
    if frame is None:
        raise AssertionError("nothing is wrong with the document, and yet there is no model of it")
    return frame.model_copy(update=entries)


def _validated(
    model: type[Model], value: object, path: KeyPath, data: Mapping[str, Any]
) -> tuple[Model | None, list[tuple[KeyPath, str]]]:
    """One part of the document as its model, and what is wrong with it."""
    null_paths = list(nulls(value, path))
    told: list[tuple[KeyPath, str]] = [(null, "null is no value: leave the key out") for null in null_paths]
    try:
        return model.model_validate(value), told
    except ValidationError as error:
        errors = from_pydantic(error, model, refused=REFUSED, at=path)
        return None, told + _worded(errors, data, null_paths=frozenset(null_paths))


def _worded(
    told: list[tuple[KeyPath, str]], data: Mapping[str, Any], *, null_paths: frozenset[KeyPath]
) -> list[tuple[KeyPath, str]]:
    """Leave out what follows from another problem, and say better what a general word says badly."""
    kept: list[tuple[KeyPath, str]] = []
    adopting = {path[:-1] for path, _sentence in told if path[-1:] == ("adopt",)}
    for path, message in told:
        match path:
            case _ if path in null_paths:
                continue
            case (*cluster, "create") if tuple(cluster) in adopting:
                continue
            case ("providerAccounts", index, "config", *_) if _provider(data, index) != "aws":
                continue  # another provider's config is another model's: only the provider is wrong
            case ("providerAccounts", index, "provider") if _provider(data, index) in _PROVIDERS_TO_COME:
                provider = _provider(data, index)
                kept.append((path, f"provider {provider} is not in this version of the collection; aws is"))
            case ("version",) if "version" in data:
                kept.append((path, f"expected 1, found {found(data['version'])}"))
            case _:
                kept.append((path, message))
    return kept


def _provider(data: Mapping[str, Any], index: str | int) -> object:
    """An account's provider as written; one that is missing is taken for aws, so that its config is checked too."""
    try:
        provider = data["providerAccounts"][index]["provider"]
    except (KeyError, TypeError, IndexError):
        return "aws"
    return provider if isinstance(provider, str) else None


def _account(account: AwsAccountModel) -> Account:
    config = account.config.model_dump(by_alias=True, exclude_none=True)
    if config.get("credential") == "ambient":
        del config["credential"]  # the same as none: one spelling in the records
    return Account(name=account.name, provider=account.provider, config=config, tenant_id=TenantId(account.tenant_id))


def _pool(pool: PoolModel) -> Pool:
    policy = pool.policy
    kubernetes = policy.kubernetes if policy else None
    return Pool(
        name=pool.name,
        site=pool.site,
        class_=pool.class_,
        gpu_model=pool.gpu_model,
        platform_operated=kubernetes.platform_operated if kubernetes else False,
        substrate=_substrate(policy.substrate) if policy and policy.substrate else None,
        tenant_id=TenantId(pool.tenant_id),
    )


def _substrate(substrate: SubstrateModel) -> Substrate:
    create = substrate.cluster.create
    return Substrate(
        account=substrate.account,
        cluster=CreateCluster(location=create.location, private_nodes=create.private_nodes),
        flavors=tuple(
            Flavor(
                name=flavor.name,
                machine_type=flavor.machine_type,
                nodes=flavor.nodes,
                gpus=Gpus(type=flavor.gpus.type, count=flavor.gpus.count) if flavor.gpus else None,
                spot=flavor.spot,
                disk_gib=flavor.disk_gib,
                zones=tuple(flavor.zones or ()),
            )
            for flavor in substrate.flavors
        ),
    )
