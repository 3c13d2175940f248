# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The one door to pydantic.

Every file of module_utils must load without third-party packages (ansible-test's import check, and a module that wants
to say what is missing). Without pydantic the stand-ins below let the models' files load; whoever then wants to use a
model calls :func:`require_pydantic` first, which raises the ModuleNotFoundError that any other missing library raises
too, so that the Ansible edge turns them all into one message.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

    HAS_PYDANTIC = True
else:
    try:
        from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

        HAS_PYDANTIC = True
    except ImportError:
        HAS_PYDANTIC = False

        class BaseModel:
            """Stands in for pydantic's; its fields are never looked at."""

        class ValidationError(Exception):
            """Stands in for pydantic's; never raised."""

        def _ignore(*_: Any, **__: Any) -> Any:
            return None

        AfterValidator = BeforeValidator = Field = _ignore
        ConfigDict = dict


def require_pydantic() -> None:
    """Check that pydantic is there.

    Raises:
        ModuleNotFoundError: it is not; `name` is `pydantic`.
    """
    if not HAS_PYDANTIC:
        raise ModuleNotFoundError("No module named 'pydantic'", name="pydantic")


__all__ = [
    "HAS_PYDANTIC",
    "AfterValidator",
    "BaseModel",
    "BeforeValidator",
    "ConfigDict",
    "Field",
    "ValidationError",
    "require_pydantic",
]
