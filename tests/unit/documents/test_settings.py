# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One settings model for modules and daemon: a file, the environment over it, every problem at once."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest

from ansible_collections.better_compute.fleet.plugins.module_utils._core.documents.settings import (
    LogSettings,
    load_settings,
    read_settings,
    unknown_variables,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.agent import AgentSettings
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import (
    InvalidInput,
    InvalidSettings,
)

PIN = base64.b64encode(bytes(32)).decode()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    file = tmp_path / "fleet.toml"
    file.write_text(
        f"""
operator = "ci"
[store]
database_url = "postgresql+psycopg://fleet:hunter2@db.example/fleet"
[agent]
image = "registry.example/bcd:1"
gateway_url = "https://gateway.example:8443"
pins = ["{PIN}"]
[gateway]
listen_port = 0
[reconcile]
workers = 8
deleting_seconds = 1
"""
    )
    return file


def problems(path: Path, environ: dict[str, str]) -> dict[str, str]:
    """Path -> message of what is wrong with the settings."""
    with pytest.raises(InvalidInput) as caught:
        load_settings(path, environ=environ)
    return {problem.path: problem.message for problem in caught.value.problems}


def test_without_a_file_everything_has_its_default(tmp_path: Path) -> None:
    settings = load_settings(environ={"XDG_STATE_HOME": str(tmp_path)})
    assert settings.agent is None
    assert settings.operator is None
    assert settings.reconcile.workers == 64
    assert settings.gateway.listen_host == "127.0.0.1"
    assert settings.reconcile.converging_seconds == 30
    assert settings.store.database_url == f"sqlite:///{settings.gateway.state_dir}/fleet.db"


def test_the_users_own_state_folder_is_the_default_where_there_is_no_daemons(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = "ansible_collections.better_compute.fleet.plugins.module_utils._core.documents.settings"
    monkeypatch.setattr(f"{module}.SYSTEM_STATE_DIR", tmp_path / "none")
    assert load_settings(environ={"XDG_STATE_HOME": "/x"}).store.database_url == "sqlite:////x/better-compute/fleet.db"
    assert load_settings(environ={"HOME": "/h", "XDG_STATE_HOME": "rel"}).gateway.state_dir == Path(
        "/h/.local/state/better-compute"
    )
    monkeypatch.setattr(f"{module}.SYSTEM_STATE_DIR", tmp_path)
    assert load_settings(environ={}).store.database_url == f"sqlite:///{tmp_path}/fleet.db"


def test_a_file_is_read_whole(file: Path) -> None:
    settings = load_settings(file, environ={})
    assert settings.agent == AgentSettings(
        image="registry.example/bcd:1", gateway_url="https://gateway.example:8443", pins=(PIN,)
    )
    assert (settings.operator, settings.reconcile.workers, settings.gateway.listen_port) == ("ci", 8, 0)
    assert settings.reconcile.deleting_seconds == 1


def test_the_environment_names_the_file_and_wins_over_it(file: Path) -> None:
    settings = load_settings(
        environ={
            "BC_FLEET_SETTINGS": str(file),
            "BC_FLEET_OPERATOR": "me",
            "BC_FLEET_STORE_DATABASE_URL": "sqlite:////tmp/x.db",
            "BC_FLEET_RECONCILE_WORKERS": "2",
            "BC_FLEET_AGENT_PINS": f"{PIN}, {PIN}",
            "BC_FLEET_GATEWAY_LISTEN_PORT": "",
            "BC_FLEET_OF_ANOTHER": "x",
        }
    )
    assert (settings.operator, settings.store.database_url, settings.reconcile.workers) == (
        "me",
        "sqlite:////tmp/x.db",
        2,
    )
    assert settings.agent is not None
    assert settings.agent.pins == (PIN, PIN)
    assert settings.gateway.listen_port == 0


@pytest.mark.parametrize("path", ["fleet.db", "./fleet.db", "~/fleet.db", "file:/srv/fleet.db?uri=true", ""])
def test_a_sqlite_file_that_is_not_named_from_the_root_is_refused_with_what_to_write(path: str) -> None:
    (message,) = problems_of_environment({"BC_FLEET_STORE_DATABASE_URL": f"sqlite:///{path}"})
    assert message.startswith("store.database_url: ")
    assert "sqlite:////var/lib/better-compute/fleet.db" in message
    assert "BC_FLEET_STORE_DATABASE_URL" in message


def test_only_a_database_that_nobody_named_is_the_default() -> None:
    assert load_settings(environ={"XDG_STATE_HOME": "/x"}).store.by_default
    assert not load_settings(environ={}, database_url="sqlite:////y.db").store.by_default


def test_a_callers_own_database_wins_over_all(file: Path) -> None:
    environ = {"BC_FLEET_STORE_DATABASE_URL": "sqlite:////tmp/x.db"}
    assert load_settings(file, environ=environ, database_url="sqlite:////y.db").store.database_url == "sqlite:////y.db"


def test_the_environment_alone_can_hold_a_whole_section() -> None:
    environ = {
        "BC_FLEET_AGENT_IMAGE": "bcd",
        "BC_FLEET_AGENT_GATEWAY_URL": "https://127.0.0.1:1",
        "BC_FLEET_AGENT_PINS": PIN,
    }
    agent = load_settings(environ=environ).agent
    assert agent == AgentSettings(image="bcd", gateway_url="https://127.0.0.1:1", pins=(PIN,))


def test_every_problem_is_told_at_once_with_the_variable_it_came_from(file: Path) -> None:
    file.write_text(file.read_text() + "wokers = 1\n[unheard]\nx = 1\n")
    told = problems(
        file,
        {
            "BC_FLEET_RECONCILE_WORKERS": "many",
            "BC_FLEET_AGENT_GATEWAY_URL": "http://gateway.example",
            "BC_FLEET_STORE_URL": "x",
            "BC_FLEET_GATEWAY_KEY_FILE": "/key.pem",
        },
    )
    assert told["reconcile.wokers"] == f"unknown key; did you mean workers? (from {file})"
    assert told["reconcile.workers"].endswith('found the string "many" (from BC_FLEET_RECONCILE_WORKERS)')
    assert told["agent.gateway_url"] == "expected an https URL (from BC_FLEET_AGENT_GATEWAY_URL)"
    assert told["BC_FLEET_STORE_URL"].startswith("unknown variable; known here: BC_FLEET_STORE_DATABASE_URL")
    assert told["unheard"].endswith(f"(from {file})")
    assert told["gateway"].endswith(f"give both or none (from {file})")


def test_a_wrong_item_of_a_list_is_told_with_the_variable_it_came_from(file: Path) -> None:
    told = problems(file, {"BC_FLEET_AGENT_PINS": f"{PIN},short"})
    assert list(told) == ["agent.pins[1]"]
    assert told["agent.pins[1]"].endswith('found the string "short" (from BC_FLEET_AGENT_PINS)')


def test_a_certificate_goes_with_its_key(file: Path) -> None:
    assert problems(file, {"BC_FLEET_GATEWAY_KEY_FILE": "/key.pem"})["gateway"].startswith(
        "certificate_file and key_file"
    )


def test_an_agent_section_without_pins_is_refused() -> None:
    (message,) = problems_of_environment({"BC_FLEET_AGENT_IMAGE": "bcd", "BC_FLEET_AGENT_GATEWAY_URL": "https://h"})
    nowhere = "there is no settings file, and no BC_FLEET_AGENT_PINS"
    assert message == f"agent.pins: is required, and is not there ({nowhere})"


def test_each_problem_names_where_the_value_came_from(tmp_path: Path) -> None:
    file = tmp_path / "fleet.toml"
    file.write_text('store = 1\noperator = 1\n[agent]\nimage = "bcd"\npins = ["short"]\n[log]\nlevel = "info"\n')
    told = problems(file, {"BC_FLEET_LOG_LEVEL": "loud", "BC_FLEET_GATEWAY_KEY_FILE": "/key.pem"})
    for path in ("store", "operator", "agent.pins[0]"):
        assert told[path].endswith(f" (from {file})"), path
    assert told["agent.gateway_url"].endswith(f" (neither in {file} nor as BC_FLEET_AGENT_GATEWAY_URL)")
    assert told["log.level"].endswith(" (from BC_FLEET_LOG_LEVEL)")
    assert told["gateway"].endswith(" (from BC_FLEET_GATEWAY_…)")
    with pytest.raises(InvalidSettings) as caught:
        load_settings(environ={}, database_url="mysql://fleet:hunter2@db/fleet")
    assert str(caught.value).endswith(" (from the option database_url)")
    assert "hunter2" not in str(caught.value)


def problems_of_environment(environ: dict[str, str]) -> list[str]:
    """What is wrong with settings that stand in the environment alone."""
    with pytest.raises(InvalidInput) as caught:
        load_settings(environ=environ)
    return [str(problem) for problem in caught.value.problems]


@pytest.mark.parametrize("content", [None, "a = ", "[store]\ndatabase_url = 1\n", "store = 1\n"])
def test_a_file_that_cannot_be_used_is_refused(tmp_path: Path, content: str | None) -> None:
    path = tmp_path / "x.toml"
    if content is not None:
        path.write_text(content)
    assert problems(path, {"BC_FLEET_STORE_DATABASE_URL": ""})


def test_a_file_that_cannot_be_used_hides_no_problem_of_the_environment(tmp_path: Path) -> None:
    environ = {
        "BC_FLEET_SETTINGS": str(tmp_path / "none.toml"),
        "BC_FLEET_AGENT_IMAGE": "bcd",
        "BC_FLEET_RECONCILE_WORKERS": "many",
        "BC_FLEET_STORE_URL": "x",
    }
    told = problems_of_environment(environ)
    assert [problem.split(":")[0].split(" ")[0] for problem in told] == [
        "the",
        "BC_FLEET_STORE_URL",
        "reconcile.workers",
    ], "what the file may hold is not said to be missing"


def test_what_is_right_is_read_beside_what_is_not(file: Path) -> None:
    read = read_settings(file, environ={"BC_FLEET_RECONCILE_WORKERS": "many"})
    assert read.wrong == {"reconcile"}
    assert len(read.problems) == 1
    assert read.settings.store == load_settings(file, environ={}).store
    assert read.settings.reconcile.workers == 64


@pytest.mark.parametrize(("content", "wrong"), [("operator = 1\n", {"operator"}), ("[stroe]\n", {"store", "operator"})])
def test_a_misspelled_section_may_have_been_any_that_is_not_there(
    tmp_path: Path, content: str, wrong: set[str]
) -> None:
    path = tmp_path / "x.toml"
    path.write_text(content)
    assert read_settings(path, environ={}).wrong >= wrong


def test_variables_of_no_section_are_known_for_what_they_are() -> None:
    environ = {"BC_FLEET_SERVICE_HOST": "x", "BC_FLEET_OPERATOR": "me", "BC_FLEET_STORE_URL": "x", "BC_FLEET_X": ""}
    assert unknown_variables(environ) == ("BC_FLEET_SERVICE_HOST",)


def test_the_databases_password_is_in_no_repr_and_no_error(file: Path) -> None:
    assert "hunter2" not in repr(load_settings(file, environ={}))
    assert "hunter2" not in str(problems(file, {"BC_FLEET_STORE_DATABASE_URL": "mysql://fleet:hunter2@db/fleet"}))


def test_the_log_is_text_from_info_on_unless_something_else_is_asked_for(file: Path) -> None:
    assert load_settings(file, environ={}).log == LogSettings(format="text", level="info")
    asked = load_settings(file, environ={"BC_FLEET_LOG_FORMAT": "json", "BC_FLEET_LOG_LEVEL": "warning"})
    assert asked.log == LogSettings(format="json", level="warning")
    told = problems(file, {"BC_FLEET_LOG_FORMAT": "JSON", "BC_FLEET_LOG_LEVEL": "loud"})
    assert told == {
        "log.format": 'expected one of text, json, found the string "JSON" (from BC_FLEET_LOG_FORMAT)',
        "log.level": 'expected one of debug, info, warning, error, found the string "loud" (from BC_FLEET_LOG_LEVEL)',
    }
