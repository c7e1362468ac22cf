"""Every setting with its default and docstring, as ``.env.example`` and as the table of ``docs/configuration.md``.

``python -m app.settings_reference`` writes both; a test holds them equal to the settings.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from app.settings import HOME_VARIABLE, PREFIX, Settings

ROOT = Path(__file__).parents[1]
TABLE_START = "<!-- settings: written by make settings -->"
TABLE_END = "<!-- end of settings -->"
_LINE_CHARACTERS = 110


@dataclass(frozen=True, slots=True)
class SettingDoc:
    """One setting as people read it; ``default`` is text, empty for none."""

    section: str
    name: str
    default: str
    text: str

    @property
    def variable(self) -> str:
        """Name of the environment variable."""
        return f"{PREFIX}{self.section.replace('.', '__')}__{self.name}".upper()


def setting_docs() -> Iterator[SettingDoc]:
    """Every setting in the order of the classes; the text is empty for an undocumented field."""
    for section, info in Settings.model_fields.items():
        if model := _model_of(info):
            yield from _section_docs(section, model)


def _section_docs(section: str, model: type[BaseModel]) -> Iterator[SettingDoc]:
    """The fields of a section, then those of the sections within it."""
    texts = field_texts(model)
    inner = {name: found for name, field in model.model_fields.items() if (found := _model_of(field))}
    for name, field in model.model_fields.items():
        if name not in inner:
            yield SettingDoc(section, name, _as_text(field.default), texts.get(name, ""))
    for name, found in inner.items():
        yield from _section_docs(f"{section}.{name}", found)


def _model_of(field: FieldInfo) -> type[BaseModel] | None:
    model = field.annotation
    return model if inspect.isclass(model) and issubclass(model, BaseModel) else None


def field_texts(model: type[BaseModel]) -> dict[str, str]:
    """The string below each field of the class and of those that it takes fields from, joined to one line."""
    texts: dict[str, str] = {}
    for base in reversed(model.__mro__):
        if issubclass(base, BaseModel) and base is not BaseModel:
            texts |= _own_texts(base)
    return texts


def _own_texts(model: type[BaseModel]) -> dict[str, str]:
    (definition,) = ast.parse(textwrap.dedent(inspect.getsource(model))).body
    assert isinstance(definition, ast.ClassDef)
    texts: dict[str, str] = {}
    for statement, following in zip(definition.body, definition.body[1:], strict=False):
        if not (isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name)):
            continue
        if isinstance(following, ast.Expr) and isinstance(following.value, ast.Constant):
            texts[statement.target.id] = " ".join(str(following.value.value).split()).replace("``", "`")
    return texts


def env_example() -> str:
    """The whole text of ``.env.example``."""
    lines = [
        "# Every setting with its default. Take away the # before a name to change it; an empty value changes nothing.",
        "# The same settings go into groundwork.toml as [section] and field = value. Unknown names are errors.",
        "",
        "# All data; the default is the platform's user-data folder.",
        f"# {HOME_VARIABLE}=",
    ]
    section = ""
    for doc in setting_docs():
        if doc.section != section:
            section = doc.section
            lines += ["", f"## {section}"]
        lines += ["", *textwrap.wrap(doc.text, _LINE_CHARACTERS, initial_indent="# ", subsequent_indent="# ")]
        lines.append(f"# {doc.variable}={doc.default}")
    return "\n".join(lines) + "\n"


def settings_table() -> str:
    """The table of all settings in Markdown."""
    rows = [_row(doc) for doc in setting_docs()]
    return "\n".join(["| setting | default | what it does |", "| --- | --- | --- |", *rows])


def with_table(page: str) -> str:
    """The page with the table between its two marks written anew."""
    head, _, rest = page.partition(TABLE_START)
    _, _, tail = rest.partition(TABLE_END)
    return f"{head}{TABLE_START}\n{settings_table()}\n{TABLE_END}{tail}"


def _row(doc: SettingDoc) -> str:
    default = f"`{doc.default}`" if doc.default else ""
    return f"| `[{doc.section}] {doc.name}` | {default} | {doc.text} |"


def _as_text(value: object) -> str:
    """A default as it is written into the environment."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return ",".join(str(part) for part in cast("tuple[object, ...]", value))
    return str(value)


def _write() -> None:
    (ROOT / ".env.example").write_text(env_example(), encoding="utf-8")
    page = ROOT / "docs" / "configuration.md"
    page.write_text(with_table(page.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    _write()
