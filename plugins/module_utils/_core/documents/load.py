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

from ..model.declared import FleetConfig
from ..model.errors import InvalidInput, Problem
from . import json_text, yaml_text
from .accounts import ACCOUNT_MODELS, account_model, provider_of
from .bounds import MAX_DOCUMENT_BYTES, check_shape, check_size
from .declaring import declared
from .fleet_config import REFUSED, FleetConfigModel, FrameModel, PoolModel, QuotaModel, SiteModel
from .problems import Told, from_pydantic, nulls
from .pydantic_shim import BaseModel, ValidationError, require_pydantic
from .references import references
from .spelling import KeyPath
from .wording import found

Model = TypeVar("Model", bound=BaseModel)

_SECTIONS: dict[str, tuple[str, type[BaseModel] | None]] = {
    "sites": ("sites", SiteModel),
    "providerAccounts": ("provider_accounts", None),
    "pools": ("pools", PoolModel),
    "quotas": ("quotas", QuotaModel),
}
"""Key -> FleetConfigModel's field, and the model of an entry; None where each entry chooses its own."""


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
    return declared(_checked(data))


def _checked(data: Mapping[str, Any]) -> FleetConfigModel:
    """The document as its model, when there is nothing wrong with it.

    Entries are validated one by one: pydantic would hold every problem of a document in memory before it told the
    first.
    """
    told = Told()
    sections = {key: value for key, value in data.items() if key in _SECTIONS and isinstance(value, list)}
    frame, around = _validated(FrameModel, {**data, **{key: [] for key in sections}}, (), data)
    told.add(each for each in around if each[0] == ("version",))
    entries: dict[str, list[BaseModel]] = {}
    for key, (name, model) in _SECTIONS.items():
        entries[name] = []
        for index, item in enumerate(sections.get(key, ())):
            entry, problems = _validated(model or account_model(item), item, (key, index), data)
            told.add(problems)
            if entry is not None:
                entries[name].append(entry)
    told.add(each for each in around if each[0] != ("version",))
    told.add(references(data))
    told.raise_any()
    if frame is None:
        raise AssertionError("nothing is wrong with the document, and yet there is no model of it")
    fields: dict[str, Any] = {"version": frame.version, **entries}
    return FleetConfigModel.model_construct(**fields)


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
    for path, message in told:
        match path:
            case _ if path in null_paths:
                continue
            case ("providerAccounts", index, "config", *_) if provider_of(_account(data, index)) is None:
                continue  # an unknown provider's config is no model's: only the provider is wrong
            case ("providerAccounts", index, "provider") if provider_of(_account(data, index)) is None:
                known = ", ".join(f"'{name}'" for name in ACCOUNT_MODELS)
                kept.append((path, f"expected one of {known}, found {found(_account(data, index)['provider'])}"))
            case ("version",) if "version" in data:
                kept.append((path, f"expected 1, found {found(data['version'])}"))
            case _:
                kept.append((path, message))
    return kept


def _account(data: Mapping[str, Any], index: str | int) -> Any:
    """An account as written."""
    return data["providerAccounts"][index]
