"""Jupyter notebooks: Markdown cells, code cells in the kernel's language, and their printed outputs.

Of an output that comes in several forms the plain text is kept. Pictures are left out, long outputs are cut.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import cast

from ingestion.errors import LoadFailed
from ingestion.loaders.assembly import DocumentAssembly, title_from_name
from ingestion.loaders.encoding import decode
from ingestion.loaders.json_data import NotJson, parse_json
from ingestion.loaders.loader import Certainty, Loader, LoadOptions, Sample
from ingestion.loaders.markdown import load_markdown
from ingestion.loaders.normalise import normalise
from ingestion.types import ParsedDocument

_MAX_OUTPUT_CHARACTERS = 4000
"""Of one output; a log that a cell printed says the same again and again."""
_TERMINAL_CODE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def load_notebook(source: str, *, name: str) -> ParsedDocument:
    """The document of a notebook (format 3 or 4).

    Raises:
        LoadFailed: ``corrupt`` when the text is no notebook, ``empty`` when its cells hold nothing.
    """
    try:
        notebook = _mapping(parse_json(normalise(source)))
    except NotJson as error:
        raise LoadFailed("corrupt", "The notebook is damaged or cut off and cannot be read.") from error
    assembly = DocumentAssembly()
    language = _language(notebook)
    title = ""
    for cell in _cells(notebook):
        text = _joined(cell.get("source", cell.get("input")))
        if cell.get("cell_type") == "code":
            assembly.code(text, language=language)
            for output in _items(cell.get("outputs")):
                _add_output(assembly, _output_text(_mapping(output)))
        elif cell.get("cell_type") == "heading":
            assembly.heading(text, level=1)
            title = title or text
        elif text.strip():
            first_heading = _add_markdown(assembly, text)
            title = title or first_heading
    return assembly.finish(title=title or title_from_name(name), media_type="application/x-ipynb+json")


def _add_markdown(assembly: DocumentAssembly, text: str) -> str:
    """Add the cell's blocks; the text of its first heading, empty without one."""
    document = load_markdown(text, name="")
    assembly.include(document)
    return next((block.heading_path[-1] for block in document.blocks if block.kind == "heading"), "")


def _add_output(assembly: DocumentAssembly, text: str) -> None:
    body = _TERMINAL_CODE.sub("", text).strip("\n")
    if len(body) > _MAX_OUTPUT_CHARACTERS:
        left_out = len(body) - _MAX_OUTPUT_CHARACTERS
        body = f"{body[:_MAX_OUTPUT_CHARACTERS]}\n[{left_out} characters of output left out]"
    assembly.code(body, language="text")


def _cells(notebook: Mapping[str, object]) -> list[Mapping[str, object]]:
    cells = _items(notebook.get("cells"))
    for sheet in _items(notebook.get("worksheets")):
        cells = [*cells, *_items(_mapping(sheet).get("cells"))]
    return [_mapping(cell) for cell in cells]


def _language(notebook: Mapping[str, object]) -> str:
    metadata = _mapping(notebook.get("metadata"))
    info, kernel = _mapping(metadata.get("language_info")), _mapping(metadata.get("kernelspec"))
    found = info.get("name") or kernel.get("language")
    return found.lower() if isinstance(found, str) and re.fullmatch(r"[\w+#.-]{1,30}", found) else "python"


def _output_text(output: Mapping[str, object]) -> str:
    if output.get("output_type") in ("error", "pyerr"):
        trace = _joined(output.get("traceback"), "\n")
        return trace or f"{_joined(output.get('ename'))}: {_joined(output.get('evalue'))}"
    data = _mapping(output.get("data"))
    return _joined(output.get("text")) or _joined(data.get("text/plain")) or _joined(data.get("text/markdown"))


def _joined(value: object, separator: str = "") -> str:
    """Text of a field that is a string or a list of lines."""
    if isinstance(value, str):
        return value
    return separator.join(item for item in _items(value) if isinstance(item, str))


def _items(value: object) -> list[object]:
    return cast("list[object]", value) if isinstance(value, list) else []


def _mapping(value: object) -> Mapping[str, object]:
    return cast("Mapping[str, object]", value) if isinstance(value, dict) else {}


def _certainty(sample: Sample) -> Certainty:
    if sample.text.lstrip().startswith("{") and b'"nbformat"' in sample.data and b'"cell' in sample.data:
        return 3
    return 1 if sample.ending == ".ipynb" else 0


def _load(data: bytes, name: str, _options: LoadOptions) -> ParsedDocument:
    return load_notebook(decode(data).text, name=name)


LOADER = Loader("notebook", frozenset((".ipynb",)), _certainty, _load)
