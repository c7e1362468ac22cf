"""Question files: one JSON object a line, as ``app.eval_schema.EvalQuestion``; and whether a source is a named file."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from pydantic import ValidationError

from app.eval_schema import EvalQuestion
from evals.errors import QuestionsUnreadable

_UPLOAD = "upload:"


def read_questions(path: Path) -> tuple[EvalQuestion, ...]:
    """The questions of a file, in its order.

    Raises:
        QuestionsUnreadable: The file is missing or empty, a line is no question, or an id stands twice.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise QuestionsUnreadable(f"The questions in {str(path)!r} cannot be read: {error}.") from error
    return parse_questions(lines, origin=repr(str(path)))


def parse_questions(lines: Iterable[str], *, origin: str) -> tuple[EvalQuestion, ...]:
    """The questions of these lines; ``origin`` names them in errors."""
    questions: list[EvalQuestion] = []
    known: set[str] = set()
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            question = EvalQuestion.model_validate_json(line)
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(map(str, first["loc"])) or "the line"
            raise QuestionsUnreadable(
                f"Line {number} of {origin} is no question: {where}: {first['msg']}; see docs/evals.md."
            ) from error
        if question.id in known:
            raise QuestionsUnreadable(f"Line {number} of {origin} has the id {question.id!r}, which stands before it.")
        known.add(question.id)
        questions.append(question)
    if not questions:
        raise QuestionsUnreadable(f"There is no question in {origin}.")
    return tuple(questions)


def is_from(source: str, files: Iterable[str]) -> bool:
    """Whether a document's source is one of these files, whose names are relative to a folder that nobody names.

    An uploaded document knows the last part of its name alone.
    """
    name = source.removeprefix(_UPLOAD)
    if "/" not in name:
        return any(file.rpartition("/")[2] == name for file in files)
    return any(name == file or name.endswith(f"/{file}") for file in files)


def relevant_files(question: EvalQuestion) -> tuple[str, ...]:
    """Every file that counts as a hit."""
    return (*question.relevant_files, *question.also_relevant)
