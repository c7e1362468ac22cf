"""Entry of the command line: global options, the list of commands, and the one place where errors end."""

from __future__ import annotations

import importlib
import os
import sys
import traceback
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Annotated

import typer

from app.cli import (
    approvals,
    ask,
    collections,
    doctor,
    documents,
    exits,
    grants,
    ingest,
    mcp,
    memory,
    models,
    output,
    presets,
    reindex,
    search,
    serve,
    serve_model,
    status,
    up,
    verify,
)
from app.cli.connection import connect as connect_to_home
from app.cli.invocation import Connect, Invocation, current

_HIGHER_GROUPS = (("eval", "evals.cli"),)
"""Command groups of packages above this one: named, not imported, so that the layers hold. Each has ``commands``."""


def run(args: Sequence[str] | None = None, *, connect: Connect = connect_to_home) -> int:
    """Run one command and return its exit code; errors become one sentence on stderr.

    Args:
        args: Arguments without the program's name; None takes those of the process.
        connect: Opens the client that commands use; tests pass an API with other parts.
    """
    invocation = Invocation(environ=os.environ, connect=connect)
    try:
        result = build()(args=args, prog_name="groundwork", standalone_mode=False, obj=invocation)
    except KeyboardInterrupt:
        return exits.INTERRUPTED
    except BrokenPipeError:
        # The reader of our output has gone; a second failure at interpreter exit must not be shown.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return exits.UNEXPECTED
    except typer.TyperException as error:
        if error.format_message():  # empty when the help was shown instead
            output.write_error(_usage_sentence(error))
        return error.exit_code
    except typer.Abort:
        return exits.INTERRUPTED
    except Exception as error:  # noqa: BLE001 - the command line's only net: every error ends as one sentence
        return _report(error, invocation)
    return result if isinstance(result, int) else exits.DONE


def build() -> typer.Typer:
    """The whole command line, without the net that ``run`` puts under it."""
    root = typer.Typer(
        help="Answers over your own documents, each sentence checked against stored text.",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    root.callback()(_global_options)
    root.command()(up.up)
    root.command()(ingest.ingest)
    root.command()(ask.ask)
    root.command()(search.search)
    root.command()(verify.receipt)
    root.command()(verify.verify)
    root.add_typer(documents.commands, name="documents")
    root.add_typer(collections.commands, name="collections")
    root.command()(status.status)
    root.command()(reindex.reindex)
    root.add_typer(approvals.commands, name="approvals")
    root.add_typer(grants.commands, name="grants")
    root.add_typer(mcp.commands, name="mcp")
    root.add_typer(models.commands, name="models")
    root.add_typer(memory.commands, name="memory")
    root.add_typer(presets.commands, name="presets")
    root.command()(doctor.doctor)
    root.command()(serve.serve)
    root.command("serve-model")(serve_model.serve_model)
    root.command()(serve.ui)
    for name, module in _HIGHER_GROUPS:
        root.add_typer(importlib.import_module(module).commands, name=name)
    return root


def _show_version(wanted: bool) -> None:
    if wanted:
        output.write_text(f"groundwork {version('groundwork')}\n")
        raise typer.Exit


def _global_options(
    context: typer.Context,
    config: Annotated[Path | None, typer.Option(help="Configuration file instead of groundwork.toml.")] = None,
    home: Annotated[Path | None, typer.Option(help="Folder of all data; also GROUNDWORK_HOME.")] = None,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an unexpected error.")] = False,
    _version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_show_version, help="Print the version and end.")
    ] = False,
) -> None:
    invocation = current(context)
    invocation.config = config
    invocation.home = home
    invocation.debug = debug


def _usage_sentence(error: typer.TyperException) -> str:
    message = " ".join(error.format_message().split()).rstrip(".")
    context: typer.Context | None = getattr(error, "ctx", None)
    if context is None:
        return f"{message}."
    joint = " See" if message.endswith("?") else "; see"
    return f"{message}{joint} {context.command_path} --help."


def _report(error: Exception, invocation: Invocation) -> int:
    failure = exits.describe(error)
    if invocation.debug:
        output.write_error("".join(traceback.format_exception(error)))
    if failure:
        output.write_error(failure.sentence)
        return failure.code
    log = _log_unexpected(error, invocation)
    kind = f"{type(error).__name__}: {error}".splitlines()[0].rstrip(".")
    where = f"the details are in {log}" if log else "run it again with --debug for the details"
    output.write_error(f"An unexpected error ended the command ({kind}); {where}.")
    return exits.UNEXPECTED


def _log_unexpected(error: Exception, invocation: Invocation) -> Path | None:
    """Append the traceback to the log of the command line; None when the home cannot be written."""
    from app.errors import AppError

    try:
        path = invocation.settings().home.logs / "cli.log"
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a", encoding="utf-8") as log:
            log.write(f"{datetime.now(UTC).isoformat()} {sys.argv}\n{''.join(traceback.format_exception(error))}\n")
    except (AppError, OSError):
        return None
    return path
