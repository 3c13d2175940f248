# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Credentials and their hashes are compared in constant time only: nowhere in what strangers call stands `==`.

A look-up by the hash of a credential, in an index or a set, is another matter: to learn from its time one would have to
choose hashes, not credentials.
"""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
CORE = ROOT / "plugins" / "module_utils" / "_core"
WEB = [path for folder in ("gateway", "web", "api") for path in sorted((ROOT / "daemon" / folder).glob("*.py"))]
READ_BY_STRANGERS = [
    *WEB,
    *(CORE / "nodes" / name for name in ("entering.py", "joining.py", "heartbeat.py", "credentials.py")),
    CORE / "operations" / "api_tokens.py",
    CORE / "model" / "secret.py",
]
SECRET_WORDS = ("hash", "sha256", "digest", "reveal", "credential", "._value")


def plain_comparisons(source: str) -> list[str]:
    """Every `==` and `!=` of something that is named like a credential or the hash of one."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Compare) and any(isinstance(how, ast.Eq | ast.NotEq) for how in node.ops):
            sides = [ast.unparse(side) for side in (node.left, *node.comparators)]
            if any(word in side for side in sides for word in SECRET_WORDS):
                found.append(ast.unparse(node))
    return found


@pytest.mark.parametrize("path", READ_BY_STRANGERS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_nothing_that_strangers_call_compares_a_credential_with_equals(path: Path) -> None:
    assert plain_comparisons(path.read_text(encoding="utf-8")) == []


def test_the_look_finds_one() -> None:
    assert plain_comparisons("if node.identity_hash == identity.sha256(): pass") != []
    assert plain_comparisons("if not hmac.compare_digest(a.sha256(), b): pass") == []
