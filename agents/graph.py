"""The answer graph on one screen; too little evidence leads from the context straight to the end."""

from __future__ import annotations

from typing import Literal, TypeAlias

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph

from agents.nodes.build_context import build_context
from agents.nodes.check_claims import check_claims
from agents.nodes.finish import finish
from agents.nodes.generate import generate
from agents.nodes.generate_object import generate_object
from agents.nodes.retrieve import retrieve
from agents.state import AnswerState, Context

AnswerGraph: TypeAlias = CompiledStateGraph[AnswerState, Context, AnswerState, AnswerState]


def build_graph() -> AnswerGraph:
    """The compiled graph; it holds no state, so one serves all runs."""
    graph = StateGraph(AnswerState, context_schema=Context)
    graph.add_node("retrieve", retrieve)
    graph.add_node("build_context", build_context)
    graph.add_node("generate", generate)
    graph.add_node("generate_object", generate_object)
    graph.add_node("check_claims", check_claims)
    graph.add_node("finish", finish)
    graph.add_edge(START, "retrieve")
    graph.add_edge("retrieve", "build_context")
    graph.add_conditional_edges("build_context", _what_to_write)
    graph.add_edge("generate", "check_claims")
    graph.add_edge("generate_object", "check_claims")
    graph.add_edge("check_claims", "finish")
    graph.add_edge("finish", END)
    return graph.compile()


def _what_to_write(state: AnswerState) -> Literal["generate", "generate_object", "finish"]:
    if state.abstention is not None:
        return "finish"
    return "generate" if state.request.output_schema is None else "generate_object"
