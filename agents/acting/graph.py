"""The acting graph on one screen: model, policy, park or run, model, and a proved answer.

Each call of a turn is a task of its own, so that each is decided and run alone. ``docs/agents.md`` draws this graph
from the code.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Send

from agents.acting.context import ActingContext
from agents.acting.nodes.answer import answer
from agents.acting.nodes.collect import collect
from agents.acting.nodes.decide import decide
from agents.acting.nodes.open_run import open_run
from agents.acting.nodes.propose import propose
from agents.acting.nodes.run_tool import CallTask, run_tool
from agents.acting.records import ActingInput, ActingState, load_request

ActingGraph: TypeAlias = CompiledStateGraph[ActingState, ActingContext, ActingInput, ActingState]


def build_acting_graph(checkpointer: BaseCheckpointSaver[str] | None = None) -> ActingGraph:
    """The compiled graph; runs live in the checkpointer, one graph serves all."""
    graph = StateGraph(ActingState, context_schema=ActingContext, input_schema=ActingInput)
    graph.add_node("open_run", open_run)
    graph.add_node("decide", decide)
    graph.add_node("propose", propose)
    graph.add_node("run_tool", run_tool)
    graph.add_node("collect", collect)
    graph.add_node("answer", answer)
    graph.add_edge(START, "open_run")
    graph.add_edge("open_run", "decide")
    graph.add_conditional_edges("decide", _after_decision)
    graph.add_conditional_edges("propose", _each_call, ["run_tool", "collect"])
    graph.add_edge("run_tool", "collect")
    graph.add_edge("collect", "decide")
    graph.add_edge("answer", END)
    return graph.compile(checkpointer=checkpointer)


def _after_decision(state: ActingState) -> Literal["answer", "propose", "decide"]:
    """Calls are proposed; without any, the run ends or another agent goes on."""
    if state["ended"]:
        return "answer"
    return "propose" if state["turn"] else "decide"


def _each_call(state: ActingState) -> list[Send] | Literal["collect"]:
    turn = state["turn"]
    user, scope = load_request(state["request"]).user, dict(state["request"]["search_filter"])
    tasks = [
        Send("run_tool", CallTask(call_id=call["call_id"], name=call["name"], user=user, scope=scope))
        for call in (turn["calls"] if turn else ())
        if not call["error"]
    ]
    return tasks or "collect"
