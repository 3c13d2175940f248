# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How Python values stand in columns, the same on SQLite and PostgreSQL. Which columns there are, tables.py says."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sqlalchemy import BigInteger
    from sqlalchemy.engine import Dialect
    from sqlalchemy.types import TypeDecorator, TypeEngine


@cache
def utc_time() -> TypeDecorator[datetime]:
    """A moment: timestamptz on PostgreSQL, ISO text of one width on SQLite (so that text order is time order).

    Takes only values with a time zone (ValueError otherwise); gives UTC.
    """
    from sqlalchemy import DateTime, String
    from sqlalchemy.types import TypeDecorator

    class UtcTime(TypeDecorator[datetime]):
        impl = String(32)
        cache_ok = True

        def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
            if dialect.name == "postgresql":
                return dialect.type_descriptor(DateTime(timezone=True))
            return dialect.type_descriptor(String(32))

        def process_bind_param(self, value: datetime | None, dialect: Dialect) -> Any:
            if value is None:
                return None
            if value.tzinfo is None:
                raise ValueError("a time without a time zone is never stored")
            moment = value.astimezone(UTC)
            return moment if dialect.name == "postgresql" else moment.isoformat(timespec="microseconds")

        def process_result_value(self, value: Any, dialect: Dialect) -> datetime | None:
            if value is None:
                return None
            moment: datetime = value if dialect.name == "postgresql" else datetime.fromisoformat(value)
            return moment.astimezone(UTC)

    return UtcTime()


@cache
def json_value() -> TypeDecorator[Any]:
    """Plain values: jsonb on PostgreSQL, JSON text on SQLite. Python's None is SQL's NULL."""
    from sqlalchemy import JSON
    from sqlalchemy.types import TypeDecorator

    class JsonValue(TypeDecorator[Any]):
        impl = JSON(none_as_null=True)
        cache_ok = True

        def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
            if dialect.name != "postgresql":
                return dialect.type_descriptor(JSON(none_as_null=True))
            # Where it is used, and no earlier: to load a dialect takes a short run a twentieth of its time.
            from sqlalchemy.dialects.postgresql import JSONB

            return dialect.type_descriptor(JSONB(none_as_null=True))

    return JsonValue()


@cache
def row_number() -> BigInteger:
    """A number that the database counts up: SQLite does that for a primary key of type INTEGER only."""
    from sqlalchemy import BigInteger, Integer

    return BigInteger().with_variant(Integer(), "sqlite")


@cache
def texts() -> TypeDecorator[list[str]]:
    """Many texts as one parameter: an array on PostgreSQL, JSON text on SQLite. See statements.among."""
    from sqlalchemy import Text
    from sqlalchemy.types import TypeDecorator

    class Texts(TypeDecorator[list[str]]):
        impl = Text
        cache_ok = True

        def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
            if dialect.name != "postgresql":
                return dialect.type_descriptor(Text())
            from sqlalchemy.dialects.postgresql import ARRAY

            return dialect.type_descriptor(ARRAY(Text()))

        def process_bind_param(self, value: list[str] | None, dialect: Dialect) -> Any:
            if value is None or dialect.name == "postgresql":
                return value
            return json.dumps(value)

    return Texts()
