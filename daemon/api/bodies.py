# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reading what a caller sends: closed models in the document's own shapes, and every problem at once.

The models look at each property by itself, with the limits of model/limits.py. What lies between properties is for
operations/ to say; a body that is wrong in places is shown to it without those, so that one answer tells everything.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Annotated, Any, ClassVar, TypeVar

from pydantic import BaseModel, Field, ValidationError, create_model
from pydantic_core import from_json

from ansible_collections.better_compute.fleet.plugins.module_utils._core.documents.bounds import MAX_PROBLEMS
from ansible_collections.better_compute.fleet.plugins.module_utils._core.documents.closed import CLOSED
from ansible_collections.better_compute.fleet.plugins.module_utils._core.documents.problems import (
    from_pydantic,
    nulls,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.documents.spelling import KeyPath, path_text
from ansible_collections.better_compute.fleet.plugins.module_utils._core.documents.wording import found
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model import limits
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import InvalidInput, Problem

from ..web.whole_bodies import no_json, no_object
from .spelling import as_api_spells

_MOST_ID_CHARACTERS = 52
"""Of an id, after its prefix (spec)."""


def text(pattern: str, description: str, *, most: int) -> Any:
    """A field of text that its pattern bounds; the description tells the most characters, too, as the spec does."""
    return Field(pattern=pattern, description=description, json_schema_extra={"maxLength": most})


def _id_field(pattern: str, prefix: str, description: str) -> Any:
    return text(pattern, description, most=len(prefix) + _MOST_ID_CHARACTERS)


Tenant = Annotated[str, text(limits.TENANT, "Whose it is: the token's tenant.", most=128)]
ClusterIdText = Annotated[str, _id_field(limits.CLUSTER_ID, "kcl_", "The cluster's id.")]
NodePoolIdText = Annotated[str, _id_field(limits.NODE_POOL_ID, "knp_", "The node pool's id.")]
PoolIdText = Annotated[str, _id_field(limits.POOL_ID, "pool_", "The pool's id.")]
Key = Annotated[
    str,
    text(
        limits.IDEMPOTENCY_KEY,
        "A repetition of the request with the same key is answered with what the first one made.",
        most=128,
    ),
]


_MOST_ENTRIES = 5_000
"""Of a body, at whatever depth: ten node pools that have all there is are about 2,000. In what has no more, everything
that is wrong is found in less than a second."""


class Body(BaseModel):
    """What every call takes.

    Attributes:
        takes_null: properties for which null is a value. Elsewhere it is refused: it cannot be told from a slip.
        lists: properties that are lists of entries with properties of their own, each of which is judged by itself.
    """

    model_config = CLOSED
    takes_null: ClassVar[frozenset[str]] = frozenset()
    lists: ClassVar[Mapping[str, type[BaseModel]]] = {}

    tenant_id: Tenant

    def problems(self) -> Iterable[Problem]:
        """What is wrong between properties, and with those that their pattern does not say, in operations' words."""
        return ()


Kind = TypeVar("Kind", bound=Body)
Model = TypeVar("Model", bound=BaseModel)

_LIST: Any = list
"""As a type checker does not see it: of types that are made at run time."""


def read(kind: type[Kind], content: bytes) -> Kind:
    """Read a body.

    Raises:
        InvalidInput: every problem, the first hundred of them.
    """
    try:
        data: Any = from_json(content, allow_inf_nan=False)
    except ValueError as error:
        raise no_object(kind.model_fields, no_json(content, str(error))) from None
    if not isinstance(data, dict):
        raise no_object(kind.model_fields, found(data))
    _check_entries(data)
    told: dict[KeyPath, str] = {}
    for path in nulls(data):
        if not (len(path) == 1 and path[0] in kind.takes_null):
            told[path] = "null is no value here: leave the property out"
    body: Kind | None = None
    try:
        body = kind.model_validate(data)
    except ValidationError as error:
        for path, message in from_pydantic(error, kind, refused={}):
            told.setdefault(path, message)
    if body is not None and not told:
        return body
    problems = [Problem(path=path_text(path), message=message) for path, message in told.items()]
    raise InvalidInput(first_of([*problems, *_of_the_rest(kind, data, list(told))]))


def _check_entries(data: dict[str, Any]) -> None:
    """End here if there is more than any request has.

    Raises:
        InvalidInput: there is.
    """
    count = 0
    left: list[Any] = [data]
    while left:
        held = left.pop()
        count += len(held)
        if count > _MOST_ENTRIES:
            raise InvalidInput([Problem(path="", message=f"no request has more than {_MOST_ENTRIES} entries in all")])
        values = held.values() if isinstance(held, dict) else held
        left += [value for value in values if isinstance(value, (dict, list))]


def _of_the_rest(kind: type[Kind], data: dict[str, Any], wrong: list[KeyPath]) -> Iterator[Problem]:
    """What is wrong in a body beside what is wrong already."""
    taken = set()
    for path in wrong:
        deep = len(path) > 2 and path[0] in kind.lists
        taken.add(path[:3] if deep else path[:1])
    rest = _without(data, taken)
    try:
        shown = partial(kind).model_validate(rest)
    except ValidationError:
        return  # an entry of a list that is no object at all: what can be told was told
    hidden = tuple(path_text(path) for path in taken)
    for problem in as_api_spells(shown.problems()):
        if not problem.path.startswith(hidden):
            yield problem


def _without(data: dict[str, Any], taken: set[KeyPath]) -> dict[str, Any]:
    rest = {key: value for key, value in data.items() if (key,) not in taken}
    for path in taken:
        if len(path) > 1:
            listed, index, key = path
            if listed in rest and isinstance(index, int):
                entries = list(rest[listed])
                entries[index] = {name: value for name, value in entries[index].items() if name != key}
                rest[listed] = entries
    return rest


@cache
def partial(kind: type[Model]) -> type[Model]:
    """The same model, in which nothing is required: also in the entries of its lists."""
    lists: Mapping[str, type[BaseModel]] = getattr(kind, "lists", {})
    optional: dict[str, Any] = {}
    for name, field in kind.model_fields.items():
        of_type: Any = field.annotation
        if entry := lists.get(field.alias or name):
            of_type = _LIST[partial(entry)]
        elif not field.is_required():
            continue
        optional[name] = (of_type | None, None)
    made: type[Model] = create_model(f"Partial{kind.__name__}", __base__=kind, **optional)
    return made


def first_of(problems: list[Problem]) -> list[Problem]:
    """As many problems as anybody reads, and how many more there are."""
    more = len(problems) - MAX_PROBLEMS
    return problems if more <= 0 else [*problems[:MAX_PROBLEMS], Problem(path="", message=f"… and {more} more")]
