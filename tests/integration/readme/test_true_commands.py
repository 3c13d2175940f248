# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Commands, settings and data in the pages are true as they stand. (`make quickstart` itself is run by .ci/run.)"""

from __future__ import annotations

import ast
import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from ansible_collections.better_compute.fleet.daemon.command_line import main as bc_fleetd
from ansible_collections.better_compute.fleet.plugins.doc_fragments.fleet import ModuleDocFragment
from ansible_collections.better_compute.fleet.plugins.module_utils._core.documents.load import load_file, parse_document
from ansible_collections.better_compute.fleet.plugins.module_utils._core.documents.settings import load_settings
from ansible_collections.better_compute.fleet.plugins.module_utils._core.planning import Records, plan
from ansible_collections.better_compute.fleet.tests.support.fleet_documents import example
from ansible_collections.better_compute.fleet.tests.support.pages import (
    CHECKOUT,
    DOCS,
    README,
    blocks,
    code,
    commands,
)

_COLLECTION = "better_compute.fleet."
_PAGES = (README, *sorted(DOCS.glob("*.md")))
_ALL_COMMANDS = sorted({command for page in _PAGES for command in commands(page)})
_INLINE_COMMANDS = sorted(
    {text for page in _PAGES for text in code(page) if re.match(r"(make|bc-fleetd) [a-z]", text)} - set(_ALL_COMMANDS)
)


def check_make(words: list[str]) -> None:
    makefile = (CHECKOUT / "Makefile").read_text(encoding="utf-8")
    targets = [word for word in words if "=" not in word]
    assert [target for target in targets if not re.search(rf"^{re.escape(target)}:", makefile, re.MULTILINE)] == []


def check_bc_fleetd(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert (Path(sys.prefix) / "bin" / "bc-fleetd").exists()
    with pytest.raises(SystemExit) as ended:
        bc_fleetd([*words, "--help"])
    help_text = capsys.readouterr().out
    assert ended.value.code == 0
    assert [word for word in words if word.startswith("-") and word not in help_text] == []


def check_ansible_playbook(words: list[str]) -> None:
    playbook = (CHECKOUT / "playbooks" / f"{words[0].removeprefix(_COLLECTION)}.yml").read_text(encoding="utf-8")
    variables = [words[at + 1].partition("=")[0] for at, word in enumerate(words) if word == "-e"]
    assert [name for name in variables if not re.search(rf"\b{name}\b", playbook)] == []


def check_ansible(words: list[str]) -> None:
    module = words[words.index("-m") + 1]
    assert module.startswith(_COLLECTION)
    source = (CHECKOUT / "plugins" / "modules" / f"{module.removeprefix(_COLLECTION)}.py").read_text(encoding="utf-8")
    options = _options(source)
    arguments = shlex.split(words[words.index("-a") + 1]) if "-a" in words else []
    given = {argument.partition("=")[0] for argument in arguments}
    assert given - set(options) == set()
    assert {name for name, option in options.items() if option.get("required")} - given == set()


def _options(source: str) -> dict[str, Any]:
    """A module's documented options, with those of the fragment that all share."""
    values = {
        node.targets[0].id: ast.literal_eval(node.value)
        for node in ast.parse(source).body
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id.isupper()
    }
    shared: dict[str, Any] = yaml.safe_load(ModuleDocFragment.DOCUMENTATION)["options"]
    return shared | (yaml.safe_load(values["DOCUMENTATION"]).get("options") or {})


def check_ansible_galaxy(words: list[str]) -> None:
    galaxy = yaml.safe_load((CHECKOUT / "galaxy.yml").read_text(encoding="utf-8"))
    tarball = f"{galaxy['namespace']}-{galaxy['name']}-{galaxy['version']}.tar.gz"
    assert words in (["collection", "build"], ["collection", "install", tarball])


def check_sourced(words: list[str]) -> None:
    # `make venv` makes .venv; these tests run in it, or in one like it.
    assert [word for word in words if not (Path(sys.prefix) / Path(word).relative_to(".venv")).exists()] == []


@pytest.mark.parametrize("command", _ALL_COMMANDS + _INLINE_COMMANDS)
def test_a_command_in_the_pages_exists_with_its_options(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    program, *words = shlex.split(command)
    checks: dict[str, Callable[[], None]] = {
        "make": lambda: check_make(words),
        "bc-fleetd": lambda: check_bc_fleetd(words, capsys),
        "ansible-playbook": lambda: check_ansible_playbook(words),
        "ansible": lambda: check_ansible(words),
        "ansible-galaxy": lambda: check_ansible_galaxy(words),
        ".": lambda: check_sourced(words),
    }
    assert program in checks, f"nobody knows how to check {command!r}: teach this test, or use a text block"
    checks[program]()


def test_ansible_takes_the_playbook_with_all_the_options_that_the_pages_give_it(tmp_path: Path) -> None:
    lines = [shlex.split(command)[1:] for command in _ALL_COMMANDS if command.startswith("ansible-playbook ")]
    (playbook,) = {words[0] for words in lines}
    options = [word for words in lines for word in words[1:]]
    kept = {key: value for key, value in os.environ.items() if not key.startswith("ANSIBLE_")}
    program = Path(sys.executable).with_name("ansible-playbook")
    subprocess.run(
        [sys.executable, program, "--syntax-check", playbook, *options],
        cwd=CHECKOUT,
        env=kept | {"ANSIBLE_HOME": str(tmp_path), "ANSIBLE_LOCAL_TEMP": str(tmp_path / "tmp")},
        check=True,
        timeout=60,
    )


def test_the_readme_shows_the_commands_that_a_newcomer_needs() -> None:
    assert {"make quickstart", "make test", "make lint", "bc-fleetd certificate", "bc-fleetd run"} <= set(
        commands(README)
    )


@pytest.mark.parametrize("page", [README, DOCS / "settings.md"], ids=lambda page: page.name)
def test_settings_in_the_pages_load(page: Path, tmp_path: Path) -> None:
    found = blocks(page, "toml")
    assert found
    for text in found:
        file = tmp_path / "fleet.toml"
        file.write_text(text, encoding="utf-8")
        settings = load_settings(file, environ={"HOME": str(tmp_path)})
        assert settings.agent is not None


def test_the_small_flavor_of_the_readme_is_a_flavor() -> None:
    (flavor,) = blocks(README, "json")
    document = example()
    document["pools"][0]["policy"]["substrate"]["flavors"] = [json.loads(flavor)]
    (pool,) = parse_document(document).pools
    assert pool.substrate is not None
    assert [one.nodes for one in pool.substrate.flavors] == [1]


def test_the_plan_that_the_readme_shows_is_that_of_the_example() -> None:
    transcript = next(block for block in blocks(README, "text") if "Fleet plan" in block)
    shown = [line.strip() for line in transcript.partition("Fleet plan")[2].split("\n\n")[0].splitlines()]
    records = Records(serial=0, sites=(), accounts=(), pools=(), clusters=(), node_pools=(), substrates=(), quotas=())
    config = parse_document(load_file(CHECKOUT / "examples" / "fleet.json"))
    zones = {account.name: account.config["zones"] for account in config.accounts if "zones" in account.config}
    made = plan(config, records, zones=zones, prune=False)
    planned = [line.strip().removeprefix("Fleet plan").strip() for line in made.render().splitlines()]
    assert len(shown) > 1
    assert [line for line in shown if line not in planned] == []
