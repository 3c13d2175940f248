# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The controller's half of bc_fleet: reads the document that `src` names where the playbook runs, vault files too."""

from __future__ import annotations

import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ansible.errors import AnsibleError
from ansible.module_utils.parsing.convert_bool import boolean
from ansible.plugins.action import ActionBase

from ..module_utils._core.documents.bounds import check_size
from ..module_utils._core.documents.load import load_file, load_text
from ..module_utils._core.model.errors import InvalidInput, Problem

_MODULE = "better_compute.fleet.bc_fleet"


class ActionModule(ActionBase):
    """Passes the document on as `config`, unless the file is on the target or there is none."""

    _supports_check_mode = True
    _supports_async = True

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Read the document if it is here, then run the module."""
        result: dict[str, Any] = super().run(tmp, task_vars)
        arguments = dict(self._task.args)
        src = arguments.get("src")
        if src and arguments.get("config") is None and not boolean(arguments.get("remote_src", False), strict=False):
            try:
                arguments["config"] = self._read(str(src))
            except InvalidInput as error:
                problems = [{"path": problem.path, "message": problem.message} for problem in error.problems]
                told = {"msg": str(error.of(str(src))), "code": str(error.code), "problems": problems}
                return result | {"failed": True, **told}
            except (AnsibleError, OSError) as error:
                return result | {"failed": True, "msg": f"the document {src} cannot be read: {error}"}
            del arguments["src"]
        module_result: dict[str, Any] = self._execute_module(
            module_name=_MODULE, module_args=arguments, task_vars=task_vars, wrap_async=bool(self._task.async_val)
        )
        return result | (_naming(str(src), module_result) if "config" in arguments and src else module_result)

    def _read(self, src: str) -> Mapping[str, Any]:
        file = self._find_needle("files", src)
        status = Path(file).stat()
        if stat.S_ISREG(status.st_mode):
            check_size(status.st_size, src)  # for the loader reads whatever there is
            document = self._load(file, src)
        else:
            document = load_file(file)  # a pipe or a device: no vault writes there, and it need not end
        if not isinstance(document, Mapping):
            raise InvalidInput([Problem(path="", message="expected a FleetConfig (a mapping)")])
        return document

    def _load(self, file: str, src: str) -> object:
        """A file's plain data, out of a vault where it is in one."""
        text = self._loader.get_text_file_contents(file)
        if not text.isascii() and any("\udc80" <= character <= "\udcff" for character in text):
            raise InvalidInput([Problem(path="", message=f"{src} is not UTF-8 text")])
        return load_text(text, src)


def _naming(src: str, told: dict[str, Any]) -> dict[str, Any]:
    """What the module told, with the document's problems told of the file: the module has seen an option only."""
    option = "config: "
    said = str(told.get("msg", ""))
    if not (told.get("failed") and said.startswith(option)):
        return told
    lines = (f"{src}: {line.removeprefix(option)}" if line.startswith(option) else line for line in said.splitlines())
    return told | {"msg": "\n".join(lines)}
