"""What agents did on the way to an answer: their turns, and a line to fold open for each call."""

from __future__ import annotations

from itertools import groupby

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from ui import session
from ui.call_wording import POLICY_ACTOR, STAGES, decision_line, risk_badge, tool_label
from ui.calls_html import arguments_html, result_html, thought_html
from ui.run_view import Review
from ui.session import PassageKey
from ui.step_view import CallView, Steps, StepView
from ui.wording import literal

_STATES = {"running": "running", "done": "complete", "failed": "error"}
"""Stages that a status line knows; the others get a sign of their own."""


def draw_steps(steps: Steps, *, live: bool = False) -> None:
    """Draw steps that said something or called tools, those of one agent together.

    Args:
        steps: In order.
        live: Whether they are drawn while the run goes on, again and again: then nothing is drawn that can be pressed.
    """
    for (agent, task), turns in groupby(steps, key=lambda step: (step.agent, step.task)):
        shown = [turn for turn in turns if turn.calls]
        if shown:
            st.caption(f":material/smart_toy: **{literal(agent)}**{f' · {literal(task)}' if task else ''}")
        for turn in shown:
            _draw_step(turn, live=live)


def draw_reviews(reviews: tuple[Review, ...]) -> None:
    """Draw what reviewing agents said, small."""
    for review in reviews:
        sign = ":material/thumb_up:" if review.approved else ":material/replay:"
        told = "approved the answer" if review.approved else "sent the answer back"
        remark = f": {literal(review.remark)}" if review.remark else ""
        st.caption(f"{sign} **{literal(review.reviewer)}** {told}{remark}")


def _draw_step(step: StepView, *, live: bool) -> None:
    if step.text.strip():
        st.html(thought_html(step.text))
    for call in step.calls:
        with _line(call):
            _draw_call(call, live=live)


def _line(call: CallView) -> DeltaGenerator:
    sign = STAGES[call.stage]
    label = f"{tool_label(call.tool, call.server)} {risk_badge(call.risk)} {sign.words}"
    if call.stage == "refused":
        label = f"{tool_label(call.tool, call.server)} {sign.words}"
    if state := _STATES.get(call.stage):
        return st.status(label, state=state)  # pyright: ignore[reportArgumentType]
    return st.expander(label, icon=sign.icon)


def _draw_call(call: CallView, *, live: bool) -> None:
    st.html(arguments_html(call.arguments))
    if call.reason:
        st.caption(f":material/policy: {literal(call.reason)}")
    line = decision_line(call.decision, call.decided_by, call.decision_reason)
    if line and call.decided_by != POLICY_ACTOR:
        st.caption(f":material/gavel: {literal(line)}")
    if call.stage == "running" and (call.progress is not None or call.remark):
        st.progress(call.progress or 0.0, text=literal(call.remark) or None)
    if call.result:
        st.html(result_html(call.result))
    if call.truncated and not live:
        st.button(
            "Read the whole result",
            key=f"result-{call.call_id}",
            icon=":material/article:",
            type="tertiary",
            on_click=session.ask_to_open,
            args=(PassageKey("", "", call_id=call.call_id),),
        )
