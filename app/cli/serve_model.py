"""``groundwork serve-model``: a chat model server of your own, vLLM or llama.cpp, from one command."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from app.cli import exits, output
from app.cli.invocation import current

if TYPE_CHECKING:
    from app.serving.plan import ServePlan
    from app.settings import Settings

Engine = Annotated[Literal["vllm", "llama.cpp"] | None, typer.Option(help="The engine; default vllm.")]
Device = Annotated[Literal["auto", "gpu", "cpu"] | None, typer.Option(help="What vLLM computes on.")]


def serve_model(
    context: typer.Context,
    engine: Engine = None,
    profile: Annotated[str | None, typer.Option(help="A profile's name or path; deploy/profiles has them.")] = None,
    model: Annotated[
        str | None, typer.Option(help="Folder, GGUF file or OWNER/NAME; default the model store's.")
    ] = None,
    device: Device = None,
    host: Annotated[str | None, typer.Option(help="Address to listen on.")] = None,
    port: Annotated[int | None, typer.Option(min=0, max=65535, help="Port; 0 takes a free one.")] = None,
    max_model_len: Annotated[int | None, typer.Option(min=256, help="Tokens of one request, answer included.")] = None,
    max_num_seqs: Annotated[int | None, typer.Option(min=1, help="Requests in one batch.")] = None,
    extra: Annotated[list[str] | None, typer.Option("--extra", help="An argument for the engine as it is.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be started, and end.")] = False,
    prepare: Annotated[bool, typer.Option("--prepare", help="Make environment and weights, and end.")] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Start although the estimate says that it does not fit.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Keep the server's log in its file alone.")] = False,
    families: Annotated[
        bool, typer.Option("--families", help="List model families and their parsers, and end.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the plan as JSON.")] = False,
) -> None:
    """Start a model server: estimate its memory, show its command, wait until it answers, start it again when it dies.

    More knobs stand in the section [serving] of groundwork.toml. vLLM lives in an environment of its own, which is made
    at the first start. Exit code 2 when something does not fit, 4 when the server does not start or stay up.

    Example: groundwork serve-model --engine vllm --profile gpu-24gb --dry-run
    """
    from app.serving.errors import KnobUnsupported, ModelTooLarge
    from app.serving.machine import this_machine
    from app.serving.plan import make_plan, require_fit
    from app.serving.profiles import resolve
    from app.serving.view import families_text, plan_text, plan_view
    from app.supervisor import claim_port

    if families:
        output.write_text(families_text())
        return
    settings = current(context).settings()
    serving = resolve(
        settings.serving,
        {
            "engine": engine, "profile": profile, "model": model, "device": device, "host": host, "port": port,
            "max_model_len": max_model_len, "max_num_seqs": max_num_seqs, "extra_args": tuple(extra) if extra else None,
        },
    )  # fmt: skip
    machine = this_machine()
    starts = not (dry_run or prepare)
    free = claim_port(serving.host, serving.port, option="--port") if starts or not serving.port else serving.port
    plan = make_plan(settings, serving, machine, port=free)
    refusal: KnobUnsupported | ModelTooLarge | None = None
    try:
        require_fit(plan, machine)
    except (KnobUnsupported, ModelTooLarge) as error:
        refusal = error
    view = plan_view(plan, refusal=str(refusal or ""))
    if as_json:
        output.write_json(view)
    else:
        output.write_text(plan_text(view))
    if refusal and not force:
        raise refusal
    if refusal:
        output.write_error(str(refusal))
    if dry_run:
        return
    _prepare(plan, settings)
    if not prepare:
        _run(context, plan, settings, quiet=quiet)


def _prepare(plan: ServePlan, settings: Settings) -> None:
    from app.serving.weights import make_weights

    if plan.environment is None:
        return
    log_path = settings.home.logs / "engine-install.log"
    plan.environment.make(say=output.write_error, log_path=log_path)
    make_weights(plan.model, plan.environment.python, say=output.write_error, log_path=log_path)


def _run(context: typer.Context, plan: ServePlan, settings: Settings, *, quiet: bool) -> None:
    from app.serving.running import run_server, server_process
    from app.serving.view import client_text

    name = plan.settings.engine.replace(".", "-")
    spec = server_process(plan, current(context).environ, settings.home.logs / f"serve-{name}.log")
    output.write_error(f"Starting the model server; its log is {spec.log_path}.")
    asyncio.run(
        run_server(
            spec,
            on_event=output.write_error,
            on_ready=lambda: output.write_text(client_text(plan)),
            on_log=None if quiet else output.write_error,
        )
    )
    raise typer.Exit(exits.DONE)
