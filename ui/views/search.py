"""Search without an answer: which passages are found, why, and which of them the chat would give to its model."""

from __future__ import annotations

import streamlit as st

from app.search_schema import ReadFilterInfo, SearchHit, SearchRequest, SearchResponse
from ui import session
from ui.budget_html import budget_html
from ui.errors import UiError
from ui.explanation_html import explanation_html, place_words, search_sentence
from ui.markup import marks, styled
from ui.passage_drawer import draw_requested_passage
from ui.passages_html import found_passage, scores_html, term_spans
from ui.problem import draw_notice
from ui.session import PassageKey
from ui.wording import literal, place, plural, reflowed, seconds, shorten

QUERY = "q"
LIMITS = (10, 20, 50)
ALONE = ""
"""Stands for no chat."""
_TITLE_LENGTH = 40
_QUERY_KINDS = {
    "follow_up": "Made self-contained",
    "filtered": "Without the words of filters",
    "picture": "With the words of a picture",
    "part": "A part of the question",
    "again": "Searched again, too little was found",
}


def draw() -> None:
    """Draw the search page."""
    st.subheader("Search", anchor=False)
    st.caption("Every question is searched in two ways: by meaning and by words. Here is what each of them finds.")
    draw_notice()
    request = _draw_form()
    draw_requested_passage()
    if request is None:
        return
    # Filters that the reader switched off belong to this query alone.
    dropped_key = f"dropped-{request.query}"
    request = request.model_copy(update={"drop_filters": tuple(st.session_state.get(dropped_key, ()))})
    try:
        with st.spinner("Searching …"):
            result = session.client().search(request)
    except UiError as error:
        st.error(literal(str(error)), icon=":material/error:")
        return
    _draw_filters(result.filters, dropped_key)
    _draw_summary(result)
    for hit in result.hits:
        _draw_hit(hit)


def _draw_form() -> SearchRequest | None:
    """What to search for; None without a query."""
    client = session.client()
    names = [collection.name for collection in client.collections()]
    threads = {thread.thread_id: thread.title or "New chat" for thread in client.threads()}
    with st.form("search", border=False):
        query = st.text_input("Query", value=st.query_params.get(QUERY, ""), placeholder="OOMKilled exit code 137")
        with st.container(horizontal=True, vertical_alignment="bottom"):
            collections = st.multiselect("Collections", names, placeholder="All documents")
            limit = st.selectbox("Hits", LIMITS)
        with st.container(horizontal=True, vertical_alignment="bottom"):
            context = st.checkbox("As the chat does", help="Also shows which hits its model would be given, and why.")
            thread_id = st.selectbox(
                "Asked in the chat",
                (ALONE, *threads),
                format_func=lambda identifier: shorten(threads.get(identifier, "none"), _TITLE_LENGTH),
                help="A follow-up is made self-contained from the turns of that chat.",
            )
        submitted = st.form_submit_button("Search", type="primary", icon=":material/search:")
    if submitted:
        # In the address, so that a search can be passed on and survives a reload.
        st.query_params[QUERY] = query.strip()
    if not query.strip():
        return None
    as_chat = context or thread_id != ALONE
    return SearchRequest(
        query=query.strip(),
        collections=tuple(collections),
        limit=limit,
        explain=True,
        context=as_chat,
        thread_id=thread_id,
    )


def _draw_filters(filters: tuple[ReadFilterInfo, ...], dropped_key: str) -> None:
    """Filters that were read from the words; each can be switched off and on again."""
    if not filters:
        return
    names = [one.name for one in filters]
    dropped = [name for name in names if name in st.session_state.get(dropped_key, ())]
    widget_key = f"filters-{dropped_key}-{'|'.join(names)}"

    def keep_choice() -> None:
        chosen = st.session_state.get(widget_key) or ()
        st.session_state[dropped_key] = [name for name in names if name not in chosen]

    st.pills(
        "Read from your words",
        names,
        selection_mode="multi",
        default=[name for name in names if name not in dropped],
        key=widget_key,
        on_change=keep_choice,
        help="Click one to search without it.",
    )
    for one in filters:
        if not one.applied and one.name not in dropped:
            st.caption(literal(f"{one.name} is not used: it would leave nothing."))


def _draw_summary(result: SearchResponse) -> None:
    if result.searched not in ("", result.query):
        st.caption(f"Searched for: {literal(result.searched)}")
    for warning in result.warnings:
        st.warning(literal(warning.detail), icon=":material/warning:")
    if not result.hits:
        st.info("Nothing was found. Try other words, or other collections.", icon=":material/search_off:")
    timings = result.timings_ms
    rerank = f", reranking {seconds(timings['rerank'])}" if timings.get("rerank") else ""
    st.caption(
        f"{plural(len(result.hits), 'hit')} in {seconds(timings['total'])}: "
        f"embedding {seconds(timings['embed'])}, search {seconds(timings['search'])}{rerank}"
    )
    if result.explanation:
        st.caption(literal(search_sentence(result.explanation)))
    if context := result.context:
        with st.expander("The prompt", icon=":material/terminal:"):
            for query in context.queries:
                st.caption(literal(f"{_QUERY_KINDS[query.kind]}: {query.query}"))
            if context.abstention:
                reason = context.abstention.reason.replace("_", " ")
                st.info(f"The chat would not answer: {reason}.", icon=":material/block:")
            st.html(budget_html(context.report))


def _draw_hit(hit: SearchHit) -> None:
    with st.container(border=True):
        st.markdown(f"**{hit.rank}. {literal(place(hit.title or hit.source, hit.page, hit.section))}**")
        st.html(scores_html(found_passage(hit)))
        if hit.prompt:
            st.caption(place_words(hit.prompt))
        text = marks(reflowed(hit.text), term_spans(hit.text, hit.matched_terms))
        st.html(styled(f'<div class="gw-passage gw-clamp">{text}</div>'))
        if hit.explanation:
            st.html(explanation_html(hit.explanation))
        with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
            st.caption(literal(hit.source))
            st.button(
                "Read",
                key=f"read-{hit.chunk_id}",
                icon=":material/article:",
                type="tertiary",
                on_click=session.ask_to_open,
                args=(PassageKey(hit.document_id, hit.chunk_id),),
            )


draw()
