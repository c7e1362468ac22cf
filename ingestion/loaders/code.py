"""Source code and configuration: the text as it is, cut at functions, classes and sections.

Each part knows the definitions it stands in, with their lines: ``class Stock (lines 10-42)``. The parsers are the
tree-sitter grammars of a wheel that holds them all, so nothing is downloaded.
"""

from __future__ import annotations

import re
from itertools import accumulate

from ingestion.errors import LoadFailed
from ingestion.loaders.code_outline import Part, outline
from ingestion.loaders.encoding import decode
from ingestion.loaders.loader import Certainty, Loader, LoadOptions, Sample
from ingestion.loaders.normalise import normalise
from ingestion.types import Block, ParsedDocument

_LANGUAGES = {
    "python": ".py .pyi .pyw",
    "javascript": ".js .mjs .cjs .jsx",
    "typescript": ".ts .mts .cts",
    "tsx": ".tsx",
    "go": ".go",
    "rust": ".rs",
    "java": ".java",
    "kotlin": ".kt .kts",
    "scala": ".scala .sc",
    "swift": ".swift",
    "c": ".c .h",
    "cpp": ".cc .cpp .cxx .hpp .hh .hxx",
    "csharp": ".cs",
    "php": ".php",
    "ruby": ".rb .rake",
    "perl": ".pl .pm",
    "lua": ".lua",
    "r": ".r",
    "bash": ".sh .bash .zsh .ksh",
    "powershell": ".ps1 .psm1",
    "sql": ".sql",
    "hcl": ".tf .tfvars .hcl",
    "proto": ".proto",
    "groovy": ".groovy .gradle",
    "elixir": ".ex .exs",
    "haskell": ".hs",
    "dart": ".dart",
    "css": ".css .scss",
    "toml": ".toml",
    "ini": ".ini .cfg .conf .properties .service",
    "make": ".mk",
    "dockerfile": ".dockerfile",
}
_BY_ENDING = {ending: language for language, endings in _LANGUAGES.items() for ending in endings.split()}
_BY_NAME = {
    "dockerfile": "dockerfile",
    "containerfile": "dockerfile",
    "makefile": "make",
    "gnumakefile": "make",
    "jenkinsfile": "groovy",
    "vagrantfile": "ruby",
    "gemfile": "ruby",
    "rakefile": "ruby",
}
_INTERPRETER = re.compile(r"\A#![^\n]*?\b(python|node|perl|ruby|bash|zsh|ksh|sh)[\d.]*(?:\s|\Z)")
_BY_INTERPRETER = {"node": "javascript", "zsh": "bash", "ksh": "bash", "sh": "bash"}
_MAX_PARSED_CHARACTERS = 2_000_000
"""Longer files are data or generated; they are cut at blank lines alone."""


def load_code(source: str, *, name: str, language: str) -> ParsedDocument:
    """The document of a source file; ``programming_language`` is metadata.

    Args:
        source: Decoded text.
        name: The file's name, which is its title.
        language: Name of its grammar, such as ``python``.

    Raises:
        LoadFailed: ``empty`` when there is no text.
    """
    text = normalise(source)
    lines = text.split("\n")
    starts = [0, *accumulate(len(line) + 1 for line in lines)]
    parts = outline(text, language) if len(text) <= _MAX_PARSED_CHARACTERS else [Part(0, len(lines), ())]
    blocks = tuple(block for part in parts if (block := _block(text, starts, part, language)) is not None)
    if not blocks:
        raise LoadFailed("empty", "The file holds no text.")
    return ParsedDocument(name, text, blocks, "text/x-source", metadata={"programming_language": language})


def _block(text: str, starts: list[int], part: Part, language: str) -> Block | None:
    start, end = starts[part.first_line], min(starts[part.end_line], len(text))
    body = text[start:end]
    if not body.strip():
        return None
    first = start + body.rfind("\n", 0, len(body) - len(body.lstrip())) + 1
    return Block("code", first, start + len(body.rstrip()), part.path, None, language)


def _language(sample: Sample) -> tuple[str, Certainty]:
    if interpreter := _INTERPRETER.match(sample.text):
        return _BY_INTERPRETER.get(interpreter[1], interpreter[1]), 2
    if (language := _BY_NAME.get(sample.name.lower())) is not None:
        return language, 2
    return _BY_ENDING.get(sample.ending, ""), 1


def _certainty(sample: Sample) -> Certainty:
    language, certainty = _language(sample)
    return certainty if language else 0


def _load(data: bytes, name: str, _options: LoadOptions) -> ParsedDocument:
    language, _ = _language(Sample(data, name))
    return load_code(decode(data).text, name=name, language=language)


LOADER = Loader("source code", frozenset(_BY_ENDING), _certainty, _load)
