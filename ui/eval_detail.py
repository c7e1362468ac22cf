"""One evaluation: its figures, those of each kind, its questions with what was found, and another held against it."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import streamlit as st

from app.eval_schema import ENDED, EvalCase, EvalComparison, EvalDetail, EvalRun, label_of
from ui import session
from ui.errors import UiError
from ui.markup import markdown_html, styled
from ui.session import PassageKey
from ui.wording import literal, place, plural, shorten

EVAL = "eval"
"""Name of the evaluation in the address."""
WATCH_SECONDS = 2
SHOWN_CASES = 100
"""Questions drawn at once; each is a part of the page of its own."""
_COUNTS = ("questions", "failed")


def draw_detail(detail: EvalDetail, others: Sequence[EvalRun]) -> None:
    """Draw an evaluation; ``others`` can be held against it."""
    run = detail.run
    st.button("All evaluations", icon=":material/arrow_back:", type="tertiary", on_click=open_eval, args=(None,))
    st.markdown(f"**{literal(run.name)}** · {run.kind} · {literal(_model(run))}")
    if run.state in ENDED:
        _draw_end(run)
    else:
        _watch(run.eval_id)
    figures, questions, compared, config = st.tabs(
        ["Figures", f"Questions ({len(detail.cases)})", "Compare", "Measured with"]
    )
    with figures:
        st.html(figures_html(run.summary.metrics))
        if run.summary.by_kind:
            st.html(kinds_html(run.summary.by_kind))
    with questions:
        _draw_cases(detail.cases)
    with compared:
        _draw_compare(run, others)
    with config:
        st.json(run.config, expanded=2)


def open_eval(eval_id: str | None) -> None:
    """Put an evaluation into the address, or take it out."""
    if eval_id is None:
        st.query_params.pop(EVAL, None)
    else:
        st.query_params[EVAL] = eval_id


def figure(name: str, value: float) -> str:
    """A figure for people."""
    if "latency_ms" in name:
        return f"{value / 1000:.1f} s" if value >= 1000 else f"{value:.0f} ms"
    return f"{value:.0f}" if name in _COUNTS else f"{value:.0%}"


def figures_html(metrics: dict[str, float]) -> str:
    """Shares as bars, other figures as numbers."""
    rows: list[str] = []
    for name, value in metrics.items():
        is_share = "latency_ms" not in name and name not in _COUNTS
        bar = f'<i style="width:{100 * min(max(value, 0), 1):.1f}%"></i>' if is_share else ""
        rows.append(
            f'<tr><td>{escape(_words(name))}</td><td class="gw-bar">{bar}</td><td>{figure(name, value)}</td></tr>'
        )
    return styled(f'{_STYLE}<table class="gw-figures">{"".join(rows)}</table>')


def kinds_html(by_kind: dict[str, dict[str, float]]) -> str:
    """Figures of each kind side by side; wide tables scroll inside themselves."""
    names = list(dict.fromkeys(name for own in by_kind.values() for name in own if name != "failed"))
    head = "".join(f"<th>{escape(_words(name))}</th>" for name in names)
    rows = "".join(
        f"<tr><td>{escape(kind)}</td>"
        + "".join(f"<td>{figure(name, own[name]) if name in own else ''}</td>" for name in names)
        + "</tr>"
        for kind, own in by_kind.items()
    )
    return styled(f'<div class="gw-scroll"><table><tr><th>kind</th>{head}</tr>{rows}</table></div>')


def comparison_html(comparison: EvalComparison) -> str:
    """The measures of two evaluations, differences with intervals and p-values."""
    rows = "".join(
        f"<tr><td>{escape(_words(m.measure))}</td><td>{m.values[0]:.3f}</td><td>{m.values[1]:.3f}</td>"
        f"<td>{m.difference:+.3f} [{m.interval[0]:+.3f}, {m.interval[1]:+.3f}]</td>"
        f"<td>{m.p_value:.3f}</td><td>{m.better} / {m.worse}</td></tr>"
        for m in comparison.measures
    )
    names = ("measure", "first", "second", "difference, 95 %", "p", "better / worse")
    head = f"<tr>{''.join(f'<th>{name}</th>' for name in names)}</tr>"
    return styled(f'<div class="gw-scroll"><table>{head}{rows}</table></div>')


_STYLE = (
    "<style>.gw-figures{width:100%;border-collapse:collapse}.gw-figures td{padding:.2rem .5rem;vertical-align:middle}"
    ".gw-figures td:last-child{text-align:right;white-space:nowrap}.gw-bar{width:50%}"
    ".gw-bar i{display:block;height:.7rem;border-radius:.35rem;background:#1f8a8a}</style>"
)


def _draw_end(run: EvalRun) -> None:
    done = f"{run.done} of {plural(run.total, 'question')}"
    if run.state == "done":
        st.caption(f":material/check_circle: {done}")
        return
    reason = {"failed": run.error, "stopped": "It was stopped.", "interrupted": "Groundwork ended meanwhile."}
    st.warning(
        literal(f"{done} were measured. {reason.get(run.state, '')} Start the same again to go on."),
        icon=":material/pause_circle:",
    )


@st.fragment(run_every=WATCH_SECONDS)
def _watch(eval_id: str) -> None:
    """How far it is; the whole page is drawn anew when it has ended."""
    try:
        run = session.client().evals.progress(eval_id)
    except UiError:
        return
    if run.state in ENDED:
        st.rerun()
    st.progress(run.done / max(run.total, 1), text=f"{run.done} of {plural(run.total, 'question')}")
    st.button("Stop", icon=":material/stop_circle:", on_click=_stop, args=(eval_id,))


def _stop(eval_id: str) -> None:
    try:
        session.client().evals.stop(eval_id)
    except UiError as error:
        session.notify("error", str(error))


def _draw_cases(cases: Sequence[EvalCase]) -> None:
    failed = [case for case in cases if not case.passed]
    choice = st.segmented_control(
        "Show", ["Not passed", "All"], default="Not passed" if failed else "All", label_visibility="collapsed"
    )
    shown = cases if choice == "All" else failed
    st.caption(f"{plural(len(failed), 'question')} of {len(cases)} did not pass.")
    for case in shown[:SHOWN_CASES]:
        mark = ":material/check:" if case.passed else ":material/close:"
        # Drawn when it is opened: a set has hundreds of questions, each with ten passages.
        box = st.expander(
            literal(f"{case.question_id}: {shorten(case.question, 90)}"), icon=mark, key=f"case-{case.question_id}",
            on_change="rerun",
        )  # fmt: skip
        if box.open:
            with box:
                _draw_case(case)
    if len(shown) > SHOWN_CASES:
        st.caption(f"{len(shown) - SHOWN_CASES} more are in the report of groundwork eval.")


def _draw_case(case: EvalCase) -> None:
    st.text(case.question)
    if case.why_not:
        st.markdown(f":red[{literal(case.why_not)}]")
    if case.answer:
        st.caption(f"Answer ({case.status})")
        st.html(markdown_html(case.answer))
    if case.expected:
        st.caption(f"Expected: {literal(case.expected)}")
    for item in case.citations:
        verdicts = ["supports" if item.supports else "does not support"]
        verdicts.append("named file" if item.relevant else "another file")
        quote = shorten(item.citation.quote, 200)
        st.caption(f"[{item.citation.number}] {', '.join(verdicts)}: “{literal(quote)}”")
    for passage in case.passages:
        where = place(passage.title or passage.source, None, passage.section)
        st.button(
            literal(f"{passage.rank}. {shorten(where, 80)}"),
            key=f"passage-{case.question_id}-{passage.rank}",
            icon=":material/check_circle:" if passage.relevant else ":material/article:",
            help=literal(passage.source),
            type="tertiary",
            on_click=session.ask_to_open,
            args=(PassageKey(passage.document_id, passage.chunk_id),),
        )


def _draw_compare(run: EvalRun, others: Sequence[EvalRun]) -> None:
    labels = {label_of(other): other.eval_id for other in others if other.eval_id != run.eval_id and other.done}
    if not labels:
        st.caption("There is no other evaluation of this kind yet.")
        return
    chosen = st.selectbox("Compared with", list(labels), index=None, placeholder="Choose the earlier evaluation")
    if chosen is None:
        return
    comparison = session.client().evals.compare(labels[chosen], run.eval_id)
    if not comparison.questions:
        st.caption("The two have no question in common.")
        return
    st.caption(
        f"{plural(comparison.questions, 'question')} in both. First: {literal(chosen)}; second: this one. "
        "The p-value is how often chance alone gives so large a difference."
    )
    st.html(comparison_html(comparison))
    for changed in comparison.changed:
        now = "passes now" if changed.passed[1] else f"no longer passes: {changed.why_not[1]}"
        st.markdown(f"**{literal(changed.question_id)}** {literal(now)}")


def _model(run: EvalRun) -> str:
    return str(run.config.get("model") or run.config.get("embedding_model") or "")


def _words(name: str) -> str:
    return name.replace("_", " ").replace(".", " ").replace("latency ms", "latency")
