"""The chat: threads in the sidebar, the open thread with its runs, and the question box."""

from __future__ import annotations

import streamlit as st

from app.schema import AgentInfo, CollectionInfo, RunInfo, RunRequest, ThreadDetail
from ui import asked_with, prompt_in_box, session
from ui.attachments import draw_attachments
from ui.cards import confirm_destructive
from ui.errors import ApiRefused, UiError
from ui.model_panel import draw_model_panel
from ui.new_thread import begin_thread
from ui.passage_drawer import DOCUMENTS_PAGE, draw_requested_passage
from ui.problem import draw_notice
from ui.question_box import (
    Typed,
    attach_pictures,
    confirm_held_question,
    draw_agent_picker,
    draw_question_box,
    hold,
)
from ui.thread_list import draw_thread_list
from ui.turn_view import draw_turn
from ui.turns import turns_of
from ui.wording import literal

# How often an idle page looks whether another tab has asked something in the same thread.
WATCH_SECONDS = 3
COLLECTIONS = "chosen_collections"
SUGGESTION = "Why did my pod restart? Last termination reason: OOMKilled"
SAMPLES = "handbook"
# Questions that the sample handbook answers.
SAMPLE_SUGGESTIONS = (
    "What does exit code 143 tell us?",
    "By how much may the on-call engineer raise a memory limit without asking anybody?",
    "What may page at night?",
)


def draw() -> None:
    """Draw the chat page."""
    client = session.client()
    thread_id = session.thread_id()
    collections = client.collections()
    with st.sidebar:
        draw_thread_list(client.threads(), open_id=thread_id)
        chosen = _draw_collection_picker(collections)
    draw_notice()
    detail = client.thread(thread_id) if thread_id else None
    active = detail.runs[-1] if detail and detail.runs and detail.runs[-1].state in ("running", "waiting") else None
    waiting = _waiting(active)
    agents = client.agents()
    with st.bottom:
        agent = draw_agent_picker(agents, detail, disabled=active is not None)
        with st.container(horizontal=True, gap="small", vertical_alignment="center", key="beside-the-box"):
            draw_model_panel(client.models.list(), client.presets.list(), detail.thread if detail else None)
            draw_attachments(thread_id)
        typed = draw_question_box(active, waiting, agent=agent)
    question = session.take_question() or (_typed(typed, active) if typed else None)
    if question and (active is None or active.state == "waiting"):
        _ask(question, session.thread_id(), collections=chosen, agent=active.agent if active else agent)
    draw_requested_passage()
    confirm_destructive()
    confirm_held_question(active, waiting)
    if detail is None or not detail.runs:
        _draw_start(collections)
        _draw_agents(agents)
    else:
        _draw_thread(detail, active)


def _typed(typed: Typed, active: RunInfo | None) -> session.Question | None:
    """The question that was sent from the box; its pictures wait in the thread until it takes them."""
    if typed.pictures:
        attach_pictures(typed)
    if active is not None:
        hold(typed.text)
        return None
    return session.Question(typed.text)


def _waiting(active: RunInfo | None) -> int:
    """How many calls of the run wait for a person."""
    if active is None or active.state != "waiting":
        return 0
    counts = session.client().approvals.list(run_id=active.run_id).counts
    return counts.pending + counts.unknown


def _draw_collection_picker(collections: list[CollectionInfo]) -> tuple[str, ...]:
    names = [collection.name for collection in collections]
    if len(names) < 2:
        return ()
    kept = [name for name in st.session_state.get(COLLECTIONS, []) if name in names]
    sizes = {collection.name: collection.documents for collection in collections}
    chosen = st.multiselect(
        "Collections",
        names,
        default=kept,
        format_func=lambda name: f"{name} ({sizes[name]})",
        placeholder="All documents",
        help="Questions are answered from these collections alone.",
    )
    st.session_state[COLLECTIONS] = chosen
    return tuple(chosen)


def _ask(question: session.Question, thread_id: str | None, *, collections: tuple[str, ...], agent: str) -> None:
    """Start the run and draw the page anew, which then follows it."""
    if not question.text.strip():
        return
    client = session.client()
    try:
        thread_id = thread_id or begin_thread()
        choice = asked_with.chosen(thread_id)
        client.start_run(
            thread_id,
            RunRequest(
                question=question.text.strip(),
                collections=collections,
                agent=agent if question.agent is None else question.agent,
                prompt=prompt_in_box.current(),
                model=choice.model,
                replaces=question.replaces,
                continues=question.continues,
                **choice.sampling.model_dump(),
            ),
        )
    except ApiRefused as error:
        session.notify("error", str(error))
    else:
        prompt_in_box.forget()
    session.open_thread(thread_id)
    st.rerun()


def _draw_thread(detail: ThreadDetail, active: RunInfo | None) -> None:
    turns = turns_of(detail.runs)
    for number, turn in enumerate(turns, start=1):
        draw_turn(turn, is_last=number == len(turns) and active is None)
    if active is None:
        _watch(detail.thread.thread_id, len(detail.runs))


@st.fragment(run_every=WATCH_SECONDS)
def _watch(thread_id: str, known_runs: int) -> None:
    """Draw the page anew when the thread has grown elsewhere."""
    try:
        threads = {thread.thread_id: thread.runs for thread in session.client().threads()}
    except UiError:
        return
    if threads.get(thread_id, 0) != known_runs:
        st.rerun()


@st.fragment(run_every=WATCH_SECONDS)
def _watch_documents() -> None:
    """Draw the page anew when the first documents are in."""
    try:
        collections = session.client().collections()
    except UiError:
        return
    if any(collection.documents for collection in collections):
        st.rerun()


def _draw_start(collections: list[CollectionInfo]) -> None:
    """What an empty thread shows: how to begin."""
    st.subheader("Ask your documents", anchor=False)
    if not any(collection.documents for collection in collections):
        st.info(
            "There are no documents yet. Add some on the Documents page, or run: `groundwork ingest FOLDER`",
            icon=":material/upload_file:",
        )
        st.page_link(DOCUMENTS_PAGE, label="Add documents", icon=":material/folder_open:")
        _watch_documents()
        return
    documents = sum(collection.documents for collection in collections)
    st.markdown(
        f"Every sentence of an answer is checked against the text of your {documents:,} documents. "
        "A number opens the passage that a sentence rests on."
    )
    samples = any(collection.name == SAMPLES for collection in collections)
    for number, suggestion in enumerate((SUGGESTION, *SAMPLE_SUGGESTIONS) if samples else (SUGGESTION,)):
        st.button(
            literal(suggestion),
            key=f"suggestion-{number}",
            icon=":material/chat_bubble:",
            on_click=session.ask_later,
            args=(session.Question(suggestion),),
        )


def _draw_agents(agents: list[AgentInfo]) -> None:
    """Who else may be asked."""
    if agents:
        st.markdown("Agents use tools as well, and ask before they change anything:")
    for agent in agents:
        st.caption(f":material/smart_toy: **{literal(agent.name)}** · {literal(agent.description)}")


draw()
