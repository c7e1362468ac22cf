"""``groundwork eval questions``: questions kept from chats, as a question file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from app.cli import output
from app.cli.invocation import current

if TYPE_CHECKING:
    from app.client import ApiClient
    from app.eval_schema import KeptQuestionList


def questions(
    context: typer.Context,
    out: Annotated[Path | None, typer.Option(help="File to write instead of stdout.")] = None,
) -> None:
    """Export the questions that were kept from chats, one JSON object a line, as `eval answers` reads them.

    Example: groundwork eval questions --out questions.jsonl
    """

    async def fetch(client: ApiClient) -> KeptQuestionList:
        return await client.kept_questions()

    kept = current(context).call(fetch).questions
    lines = "".join(f"{item.question.model_dump_json()}\n" for item in kept)
    if out is None:
        output.write_text(lines)
    else:
        out.write_text(lines, encoding="utf-8")
        output.write_error(f"{len(kept)} questions are in {out}.")
