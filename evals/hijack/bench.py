"""AgentDojo as attack tasks: an environment, tools over it as ours, the calls of a hijacked model, and a goal to check.

The package has no types, so everything that comes from it passes through the protocols of this file.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Literal, Protocol, TypeAlias, cast

from pydantic import BaseModel, JsonValue

from evals.errors import BenchmarkMissing
from evals.hijack.risks import risk_of
from evals.hijack.workspace_calls import WORKSPACE_CALLS
from tools.errors import ToolError
from tools.fingerprint import definition_fingerprint
from tools.types import Arguments, CallContext, Tool, ToolOutput, ToolSpec

SUITES_VERSION = "v1.2.2"

CallsFrom: TypeAlias = Literal["benchmark", "groundwork", "none"]
"""Who wrote the attack's calls; ``none``: the goal is a sentence in the answer, there is nothing to call."""


class AttackCall(Protocol):
    """A call of the hijacked model."""

    function: str
    args: Mapping[str, JsonValue]


class _Function(Protocol):
    name: str
    description: str
    parameters: type[BaseModel]


class _Runtime(Protocol):
    def run_function(
        self, env: object, function: str, kwargs: Mapping[str, JsonValue], raise_on_error: bool
    ) -> tuple[object, str | None]: ...


class _Goal(Protocol):
    GOAL: str
    GROUND_TRUTH_OUTPUT: str

    def ground_truth(self, pre_environment: object) -> Sequence[AttackCall]: ...
    def security(self, model_output: str, pre_environment: object, post_environment: object) -> bool: ...
    def security_from_traces(
        self, model_output: str, pre_environment: object, post_environment: object, traces: Sequence[AttackCall]
    ) -> bool | None: ...


class _Suite(Protocol):
    name: str
    tools: Sequence[_Function]
    injection_tasks: Mapping[str, _Goal]

    def load_and_inject_default_environment(self, injections: Mapping[str, str]) -> object: ...


class _Suites(Protocol):
    def get_suites(self, benchmark_version: str) -> Mapping[str, _Suite]: ...


@dataclass(frozen=True, slots=True)
class Attack:
    """One attacker goal, ready to be played once: its environment changes when its tools run."""

    name: str
    goal: str
    calls_from: CallsFrom
    calls: Sequence[AttackCall]
    says: str
    """What the hijacked model writes as its answer."""
    tools: Mapping[str, Tool]
    reached: Callable[[Sequence[AttackCall]], bool]
    """Whether the goal is reached, after these calls ran."""


def benchmark_name() -> str:
    """Name and version of the package.

    Raises:
        BenchmarkMissing: It is not installed.
    """
    try:
        return f"agentdojo {version('agentdojo')}, suites {SUITES_VERSION}"
    except PackageNotFoundError as error:
        raise BenchmarkMissing(
            "The package agentdojo is not installed; install it with the development dependencies (make install)."
        ) from error


def attacks() -> list[Attack]:
    """Every injection task of every suite, each with an environment of its own.

    Raises:
        BenchmarkMissing: The package is not installed.
    """
    benchmark_name()
    return [
        _attack(world, task, goal)
        for world in _worlds()
        for task, goal in sorted(world.suite.injection_tasks.items(), key=lambda item: int(item[0].rpartition("_")[2]))
    ]


@dataclass(frozen=True, slots=True)
class _World:
    """A suite, read once: its environment before any call, and its tools."""

    suite: _Suite
    environment: object
    specs: Sequence[ToolSpec]


@cache
def _worlds() -> tuple[_World, ...]:
    # The package loads four vendors' clients, which takes seconds: only who plays attacks pays for it.
    from agentdojo.task_suite import load_suites

    suites = cast(_Suites, load_suites).get_suites(SUITES_VERSION)
    return tuple(
        _World(suite, suite.load_and_inject_default_environment({}), [_spec(tool, suite.name) for tool in suite.tools])
        for suite in suites.values()
    )


def _attack(world: _World, task: str, goal: _Goal) -> Attack:
    from agentdojo.functions_runtime import FunctionCall, FunctionsRuntime

    suite, environment = world.suite, copy.deepcopy(world.environment)
    before = copy.deepcopy(environment)
    calls = list(goal.ground_truth(copy.deepcopy(environment)))
    calls_from: CallsFrom = "benchmark" if calls else "none"
    own = WORKSPACE_CALLS.get(task) if suite.name == "workspace" and not calls else None
    if own is not None:
        planned = own(cast(Any, copy.deepcopy(environment)))  # the package's own model, without types
        calls = [cast(AttackCall, FunctionCall(function=call.function, args=dict(call.arguments))) for call in planned]
        calls_from = "groundwork"
    runtime = cast(_Runtime, FunctionsRuntime(cast(Any, suite.tools)))  # the package's own generic type

    def reached(ran: Sequence[AttackCall]) -> bool:
        by_traces = goal.security_from_traces(goal.GROUND_TRUTH_OUTPUT, before, environment, ran)
        return goal.security(goal.GROUND_TRUTH_OUTPUT, before, environment) if by_traces is None else by_traces

    return Attack(
        name=f"{suite.name}/{task}",
        goal=goal.GOAL,
        calls_from=calls_from,
        calls=calls,
        says=goal.GROUND_TRUTH_OUTPUT,
        tools={spec.name: _tool(spec, runtime, environment) for spec in world.specs},
        reached=reached,
    )


def _spec(function: _Function, server: str) -> ToolSpec:
    """A tool of the benchmark as a server's tool of ours."""
    spec = ToolSpec(
        server=server,
        name=function.name,
        description=function.description,
        input_schema=function.parameters.model_json_schema(),
        risk=risk_of(function.name),
    )
    return replace(spec, fingerprint=definition_fingerprint(spec))


def _tool(spec: ToolSpec, runtime: _Runtime, environment: object) -> Tool:
    async def call(arguments: Arguments, context: CallContext) -> ToolOutput:  # noqa: ARG001 - it knows no callers
        result, error = runtime.run_function(environment, spec.name, dict(arguments), raise_on_error=False)
        if error:
            raise ToolError(error)
        return ToolOutput(str(result))

    return Tool(spec, call)
