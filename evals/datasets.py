"""Retrieval data sets in the BEIR layout: ``corpus.jsonl``, ``queries.jsonl``, ``qrels/test.tsv``."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from evals.errors import DatasetUnreadable

_JUDGEMENT_COLUMNS = ["query-id", "corpus-id", "score"]
_Line = TypeVar("_Line", bound=BaseModel)


class CorpusDocument(BaseModel):
    """One line of ``corpus.jsonl``; other fields are ignored, for they may hold the answers."""

    model_config = ConfigDict(frozen=True)

    document_id: str = Field(alias="_id")
    title: str = ""
    text: str = ""


class _Query(BaseModel):
    query_id: str = Field(alias="_id")
    text: str


@dataclass(frozen=True, slots=True)
class Dataset:
    """A corpus, its questions, and which documents answer them.

    Attributes:
        name: Name of the folder.
        documents: The whole corpus, in file order.
        queries: Text by query id; only queries that have a relevant document, in file order.
        judgements: Grade by document id by query id; only grades above 0, which is what "relevant" means.
    """

    name: str
    documents: tuple[CorpusDocument, ...]
    queries: Mapping[str, str]
    judgements: Mapping[str, Mapping[str, int]]


def read_dataset(folder: Path, *, split: str = "test") -> Dataset:
    """A data set from its folder.

    Raises:
        DatasetUnreadable: A file is missing, a line is malformed, or no query has a relevant document.
    """
    judgements = _read_judgements(folder / "qrels" / f"{split}.tsv")
    queries = {query.query_id: query.text for query in _read_lines(folder / "queries.jsonl", _Query)}
    if missing := judgements.keys() - queries.keys():
        raise DatasetUnreadable(f"{str(folder)!r} judges query {min(missing)!r}, which queries.jsonl does not have")
    return Dataset(
        name=folder.resolve().name,
        documents=tuple(_read_lines(folder / "corpus.jsonl", CorpusDocument)),
        queries={query_id: text for query_id, text in queries.items() if query_id in judgements},
        judgements=judgements,
    )


def _read_lines(path: Path, kind: type[_Line]) -> Iterator[_Line]:
    for number, line in enumerate(_lines(path), start=1):
        if line.strip():
            try:
                yield kind.model_validate_json(line)
            except ValidationError as error:
                raise DatasetUnreadable(f"line {number} of {str(path)!r} is not as expected: {error}") from error


def _read_judgements(path: Path) -> dict[str, dict[str, int]]:
    rows = csv.reader(_lines(path), delimiter="\t")
    if next(rows, None) != _JUDGEMENT_COLUMNS:
        raise DatasetUnreadable(f"the first line of {str(path)!r} must be {' TAB '.join(_JUDGEMENT_COLUMNS)!r}")
    judgements: dict[str, dict[str, int]] = {}
    for number, row in enumerate(rows, start=2):
        try:
            query_id, document_id, grade = row[0], row[1], int(row[2])
        except (IndexError, ValueError) as error:
            raise DatasetUnreadable(f"line {number} of {str(path)!r} is not query, document, whole number") from error
        if grade > 0:
            judgements.setdefault(query_id, {})[document_id] = grade
    if not judgements:
        raise DatasetUnreadable(f"{str(path)!r} has no relevant document for any query")
    return judgements


def _lines(path: Path) -> Iterator[str]:
    try:
        with path.open(encoding="utf-8", newline="") as file:
            yield from file
    except FileNotFoundError as error:
        raise DatasetUnreadable(
            f"{str(path)!r} is missing; a data set has corpus.jsonl, queries.jsonl and qrels/test.tsv"
        ) from error
    except (OSError, UnicodeDecodeError) as error:
        raise DatasetUnreadable(f"{str(path)!r} cannot be read: {error}") from error
