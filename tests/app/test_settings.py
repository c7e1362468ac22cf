from __future__ import annotations

import re
from pathlib import Path

import pytest
from pydantic import SecretStr

from app.errors import SettingsInvalid
from app.settings import Settings, load_settings


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_environment_wins_over_the_file_and_the_file_over_defaults(tmp_path: Path) -> None:
    config = write(tmp_path / "c.toml", '[server]\nport = 9000\nui_port = 9001\n[model]\nname = "mine"\n')
    settings = load_settings({"GROUNDWORK_HOME": str(tmp_path), "GROUNDWORK_SERVER__PORT": "9500"}, config=config)
    assert (settings.server.port, settings.server.ui_port, settings.model.name) == (9500, 9001, "mine")
    assert settings.search == Settings(home_path=tmp_path).search
    assert settings.home.root == tmp_path


def test_file_in_the_home_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir("/")
    write(tmp_path / "groundwork.toml", "[search]\nlimit = 3\n")
    assert load_settings({"GROUNDWORK_HOME": str(tmp_path)}).search.limit == 3


@pytest.mark.parametrize(
    ("environ", "message"),
    [
        ({"GROUNDWORK_SERVER__PROT": "1"}, "Unknown setting 'server.prot' in GROUNDWORK_SERVER__PROT; see .env"),
        ({"GROUNDWORK_SEVER__PORT": "1"}, "Unknown setting 'sever' in GROUNDWORK_SEVER__PORT; see .env.example"),
        ({"GROUNDWORK_PORT": "1"}, "Unknown environment variable 'GROUNDWORK_PORT'; settings are named"),
        ({"GROUNDWORK_SERVER__PORT": "http"}, "Setting 'server.port' in GROUNDWORK_SERVER__PORT does not fit: "),
    ],
)
def test_wrong_variable_is_refused_and_named(environ: dict[str, str], message: str) -> None:
    with pytest.raises(SettingsInvalid, match=re.escape(message)):
        load_settings(environ)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[server]\nprot = 1\n", "Unknown setting 'server.prot' in "),
        ("[sever]\nport = 1\n", "Unknown setting 'sever' in "),
        ("port = 1\n", "'port' is not a section; write [section]"),
        ("[server\n", "is not valid TOML"),
    ],
)
def test_wrong_file_is_refused_and_named(tmp_path: Path, text: str, message: str) -> None:
    config = write(tmp_path / "c.toml", text)
    with pytest.raises(SettingsInvalid, match=re.escape(message)) as caught:
        load_settings({}, config=config)
    assert str(config) in str(caught.value)


def test_missing_file_is_refused_and_named(tmp_path: Path) -> None:
    with pytest.raises(SettingsInvalid, match="Cannot read the configuration file"):
        load_settings({}, config=tmp_path / "none.toml")


def test_empty_variable_counts_as_not_set() -> None:
    assert load_settings({"GROUNDWORK_MODEL__BASE_URL": ""}).model.base_url is None


def test_list_in_the_environment_is_written_with_commas() -> None:
    settings = load_settings({"GROUNDWORK_SERVER__ALLOWED_HOSTS": "docs.example.org, localhost"})
    assert settings.server.allowed_hosts == ("docs.example.org", "localhost")


def test_secrets_do_not_show() -> None:
    settings = load_settings({"GROUNDWORK_MODEL__API_KEY": "sk-secret"})
    assert settings.model.api_key == SecretStr("sk-secret")
    assert "sk-secret" not in repr(settings)


def test_address_of_the_api_for_the_ui_is_no_setting(tmp_path: Path) -> None:
    environ = {"GROUNDWORK_HOME": str(tmp_path), "GROUNDWORK_API_URL": "http://api:8080"}
    assert load_settings(environ) == load_settings({"GROUNDWORK_HOME": str(tmp_path)})
