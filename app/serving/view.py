"""A plan as people and programs read it: ``serve-model --json``, and the lines that the command prints. No secrets."""

from __future__ import annotations

import shlex

from pydantic import BaseModel, ConfigDict

from app.serving.families import FAMILIES
from app.serving.memory import MemoryEstimate, gib
from app.serving.plan import ServePlan, fitting_tokens

_SECRETS = ("VLLM_API_KEY",)


class MemoryLineView(BaseModel):
    """One part of the estimate."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    what: str
    size_bytes: int
    arithmetic: str


class MemoryView(BaseModel):
    """The estimate on one GPU or in main memory."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    place: str
    lines: list[MemoryLineView]
    total_bytes: int
    budget_bytes: int | None
    budget: str
    fits: bool | None
    token_bytes: int
    fitting_tokens: int | None


class ServePlanView(BaseModel):
    """What would be started."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    engine: str
    device: str
    environment: str
    environment_ready: bool
    model: str
    weights_made_from: str
    family: str
    tool_call_parser: str
    reasoning_parser: str
    remark: str
    memory: MemoryView | None
    argv: list[str]
    environ: dict[str, str]
    base_url: str
    refusal: str


def plan_view(plan: ServePlan, *, refusal: str) -> ServePlanView:
    """The plan for programs; ``refusal`` says why it would not start, empty when it would."""
    parsers = plan.parsers
    return ServePlanView(
        engine=plan.settings.engine,
        device=plan.device,
        environment=str(plan.environment.folder) if plan.environment else "",
        environment_ready=plan.environment is None or plan.environment.ready,
        model=plan.model.argument,
        weights_made_from=str(plan.model.made_from or ""),
        family=parsers.family if parsers else "",
        tool_call_parser=parsers.tool_call_parser if parsers else "",
        reasoning_parser=parsers.reasoning_parser if parsers else "",
        remark=parsers.remark if parsers else "",
        memory=_memory_view(plan, plan.memory) if plan.memory else None,
        argv=list(plan.command.argv),
        environ={name: "***" if name in _SECRETS else text for name, text in plan.command.environ.items()},
        base_url=f"{plan.url}/v1",
        refusal=refusal,
    )


def plan_text(view: ServePlanView) -> str:
    """The plan for people."""
    where = view.environment or "this application's environment"
    state = "" if view.environment_ready else ", to be made"
    rows = [("engine", f"{view.engine} on {view.device}, {where}{state}"), ("model", view.model)]
    if view.weights_made_from:
        rows.append(("weights", f"written out once from {view.weights_made_from}"))
    if view.engine == "vllm":
        rows.append(("tool calls", _parser_words(view.tool_call_parser, view.family)))
        rows.append(("reasoning", _parser_words(view.reasoning_parser, view.family)))
    if view.remark:
        rows.append(("remark", view.remark))
    lines = [f"{name:12}{text}" for name, text in rows]
    lines += _memory_text(view.memory) if view.memory else ["memory      unknown before the model is downloaded"]
    environ = [f"{name}={shlex.quote(text)}" for name, text in view.environ.items()]
    lines += ["command", "  " + " ".join([*environ, shlex.join(view.argv)])]
    return "\n".join(lines) + "\n"


def client_text(plan: ServePlan) -> str:
    """What the API needs to use the server."""
    serving = plan.settings
    return (
        f"The model server is ready at {plan.url}/v1. For the API, in groundwork.toml:\n\n"
        f'[model]\nbase_url = "{plan.url}/v1"\nname = "{serving.served_name}"\n'
        f"context_tokens = {serving.max_model_len}\n\nCtrl-C ends the server.\n"
    )


def families_text() -> str:
    """The table of families."""
    head = f"{'family':22}{'tool calls':18}{'reasoning':18}remark"
    rows = [f"{it.name:22}{it.tool_call_parser:18}{it.reasoning_parser:18}{it.remark}".rstrip() for it in FAMILIES]
    return "\n".join([head, *rows]) + "\n"


def _parser_words(parser: str, family: str) -> str:
    return f"{parser or 'none'}{f' (family {family})' if family else ''}"


def _memory_view(plan: ServePlan, memory: MemoryEstimate) -> MemoryView:
    return MemoryView(
        place=memory.place,
        lines=[MemoryLineView(what=it.what, size_bytes=it.size_bytes, arithmetic=it.arithmetic) for it in memory.lines],
        total_bytes=memory.total_bytes,
        budget_bytes=memory.budget_bytes,
        budget=memory.budget,
        fits=memory.fits,
        token_bytes=memory.token_bytes,
        fitting_tokens=fitting_tokens(plan),
    )


def _memory_text(memory: MemoryView) -> list[str]:
    lines = [f"memory      estimate for {memory.place}"]
    lines += [f"  {line.what:14}{gib(line.size_bytes):>12}  {line.arithmetic}" for line in memory.lines]
    lines.append(f"  {'together':14}{gib(memory.total_bytes):>12}")
    if memory.budget_bytes is None:
        lines.append(f"  {'there':14}{'?':>12}  {memory.budget}")
    else:
        lines.append(f"  {'there':14}{gib(memory.budget_bytes):>12}  {memory.budget}")
    if memory.fitting_tokens is not None:
        lines.append(f"  {'cache':14}{memory.fitting_tokens:>12,}  tokens would fit beside the rest")
    return lines
