# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A file with a secret in it: nobody but its owner reads it at any moment, and it is there whole or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

from ansible.module_utils.basic import AnsibleModule

from ..model.errors import InvalidInput, Problem
from ..model.secret import Secret

_MOST_BYTES = 1024 * 1024
_OWNERS_ONLY = 0o600
_NOBODY_ELSE = 0o077


class SecretFile:
    """The file that a module's `dest` names. Its mode is 0600 unless the task says otherwise.

    Attributes:
        path: where it is, links followed.
    """

    def __init__(self, module: AnsibleModule) -> None:
        """Nothing is looked at yet."""
        self._module = module
        self.path = Path(os.path.realpath(module.params["dest"]))

    @property
    def exists(self) -> bool:
        """Whether there is such a file."""
        return self.path.exists()

    def read(self) -> str:
        """Its text, empty for none: of a huge file the beginning, and marks for what is no text.

        Raises:
            InvalidInput: it may not be read, or is a folder.
        """
        try:
            with self.path.open("rb") as file:
                return file.read(_MOST_BYTES).decode(errors="replace")
        except (FileNotFoundError, NotADirectoryError):
            return ""
        except OSError as error:
            raise InvalidInput([Problem(path="dest", message=f"{self.path}: {error.strerror}")]) from None

    def require_writable(self) -> None:
        """Check that it can be written, before there is a secret to write.

        Raises:
            InvalidInput: there is no such folder, or it may not be written.
        """
        folder = self.path.parent
        if not folder.is_dir() or not os.access(folder, os.W_OK | os.X_OK):
            raise InvalidInput([Problem(path="dest", message=f"{self.path}: {folder} cannot be written")])

    def settle(self) -> bool:
        """Give an existing file its mode, owner and the like; whether that changed (or, in check mode, would)."""
        wanted: dict[str, Any] = self._module.load_file_common_arguments(self._module.params, path=str(self.path))
        if wanted["mode"] is None:
            wanted["mode"] = _OWNERS_ONLY
        return bool(self._module.set_fs_attributes_if_different(wanted, False))

    def write(self, text: Secret) -> None:
        """Put the text there in one move."""
        if self.exists:
            # The move keeps an existing file's mode: one that others may read is closed before.
            self.settle()
        before = os.umask(_NOBODY_ELSE)
        try:
            handle, made = tempfile.mkstemp(dir=self._module.tmpdir)
            self._module.add_cleanup_file(made)
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(text.reveal())
            self._module.atomic_move(made, str(self.path), unsafe_writes=bool(self._module.params["unsafe_writes"]))
        finally:
            os.umask(before)
        self.settle()

    def remove(self) -> None:
        """Take it away; none is no error."""
        self.path.unlink(missing_ok=True)
