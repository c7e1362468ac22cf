"""``ask --attach`` and ``ask --prompt``: what is attached before a question is asked, and words that a server wrote."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from app.cli import output
from app.cli.approval_card import plain

if TYPE_CHECKING:
    from app.attachment_schema import Attachment, AttachRequest
    from app.client import ApiClient

SERVER_MARK = "mcp:"
DOCUMENT_MARK = "doc:"


@dataclass(frozen=True, slots=True)
class PromptToFill:
    """A prompt of a server and what its blanks hold."""

    server: str
    name: str
    arguments: dict[str, str]


def parse_prompt(named: str, pairs: Sequence[str]) -> PromptToFill | None:
    """The prompt of ``--prompt`` and ``--arg``; None without one.

    Raises:
        typer.BadParameter: A part is missing.
    """
    if not named:
        if pairs:
            raise typer.BadParameter("fills a blank of a prompt; name it with --prompt.", param_hint="--arg")
        return None
    server, separator, prompt = named.partition("/")
    if not (server and separator and prompt):
        raise typer.BadParameter(f"{named!r} is not SERVER/NAME.", param_hint="--prompt")
    arguments: dict[str, str] = {}
    for pair in pairs:
        name, separator, value = pair.partition("=")
        if not (name and separator):
            raise typer.BadParameter(f"{pair!r} is not NAME=VALUE.", param_hint="--arg")
        arguments[name] = value
    return PromptToFill(server, prompt, arguments)


async def attach_all(client: ApiClient, thread_id: str, named: Sequence[str]) -> None:
    """Attach files of this machine, resources (``mcp:SERVER:URI``) and documents (``doc:ID``).

    Raises:
        typer.BadParameter: A name cannot be understood, or its file not read.
        ApiProblem: The API refuses one.
    """
    for name in named:
        request = _request(name)
        if request is not None:
            entry = await client.attachments.attach(thread_id, request)
        else:
            data = _bytes_of(Path(name), option="--attach")
            entry = await client.attachments.attach_file(thread_id, Path(name).name, data)
        output.write_error(plain(_attached(entry)))


async def attach_pictures(client: ApiClient, thread_id: str, files: Sequence[Path]) -> None:
    """Put pictures of this machine beside the next question.

    Raises:
        typer.BadParameter: One cannot be read, or is no picture.
        ApiProblem: The API refuses one.
    """
    from app.picture_making import is_picture

    for path in files:
        data = _bytes_of(path, option="--image")
        if not is_picture(data):
            raise typer.BadParameter(
                f"{str(path)!r} is no PNG, JPEG, WebP or GIF; other files go with --attach.", param_hint="--image"
            )
        entry = await client.attachments.attach_file(thread_id, path.name, data)
        output.write_error(plain(_attached(entry)))


async def fill_prompt(client: ApiClient, thread_id: str, choice: PromptToFill, *, send: bool) -> str:
    """The words of a prompt, shown and agreed to; what it brings with it is attached.

    Args:
        client: The API.
        thread_id: Where resources of the prompt are attached.
        choice: The prompt.
        send: Do not ask whether to send them.

    Raises:
        typer.Abort: The person does not want to send them.
        typer.BadParameter: Nobody can be asked.
        ApiProblem: The server does not answer, or wants other arguments.
    """
    from app.attachment_schema import AttachEmbedded
    from app.tool_schema import PromptFill

    filled = await client.fill_prompt(choice.server, choice.name, PromptFill(arguments=choice.arguments))
    question = filled.question
    output.write_error(plain(f"{choice.server}/{choice.name} says:\n{question}\n"))
    if not send:
        if not (sys.stdin.isatty() and sys.stderr.isatty()):
            raise typer.BadParameter("a server wrote these words; send them with --yes.", param_hint="--prompt")
        typer.confirm("Send this?", abort=True, err=True)
    for piece in filled.resources:
        if piece.text:
            request = AttachEmbedded(server=choice.server, uri=piece.uri, media_type=piece.media_type, text=piece.text)
            entry = await client.attachments.attach(thread_id, request)
            output.write_error(plain(f"Attached {entry.name} ({entry.characters:,} characters)."))
    return question


def _bytes_of(path: Path, *, option: str) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise typer.BadParameter(f"{str(path)!r} cannot be read: {error.strerror}.", param_hint=option) from error


def _attached(entry: Attachment) -> str:
    if entry.picture is None:
        return f"Attached {entry.name} ({entry.characters:,} characters)."
    return f"Attached the picture {entry.name} ({entry.picture.words:,} words read from it)."


def _request(name: str) -> AttachRequest | None:
    """What the API is to read; None for a file of this machine."""
    from app.attachment_schema import AttachDocument, AttachResource

    if name.startswith(DOCUMENT_MARK) and len(name) > len(DOCUMENT_MARK):
        return AttachDocument(document_id=name.removeprefix(DOCUMENT_MARK))
    if not name.startswith(SERVER_MARK):
        return None
    server, separator, uri = name.removeprefix(SERVER_MARK).partition(":")
    if not (server and separator and uri):
        raise typer.BadParameter(f"{name!r} is not mcp:SERVER:URI.", param_hint="--attach")
    return AttachResource(server=server, uri=uri)
