from __future__ import annotations

import re

from app.settings import Settings, load_settings
from app.settings_reference import ROOT, env_example, setting_docs, with_table

REMEDY = "run make settings"


def test_every_setting_is_documented() -> None:
    assert [doc.variable for doc in setting_docs() if not doc.text] == []


def test_every_section_of_the_settings_is_listed() -> None:
    # Endpoints have the names that people give them.
    sections = set(Settings.model_fields) - {"home_path", "endpoints"}
    assert {doc.section.partition(".")[0] for doc in setting_docs()} == sections


def test_env_example_equals_the_settings() -> None:
    assert (ROOT / ".env.example").read_text(encoding="utf-8") == env_example(), REMEDY


def test_table_of_the_configuration_page_equals_the_settings() -> None:
    page = (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8")
    assert page == with_table(page), REMEDY


def test_env_example_with_every_line_switched_on_gives_the_defaults() -> None:
    variables = dict(re.findall(r"^# (GROUNDWORK_\w+)=(.*)$", env_example(), flags=re.MULTILINE))
    settings = load_settings(variables)
    assert settings == Settings(home_path=settings.home_path)
