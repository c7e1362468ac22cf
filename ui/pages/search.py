"""Search without an answer: which passages are found, and why."""

from __future__ import annotations

import streamlit as st

from agents.answer import FoundPassage
from app.search_schema import SearchHit, SearchRequest
from ui import session
from ui.markup import marks, styled
from ui.passage_drawer import draw_requested_passage
from ui.passages_html import found_passage, scores_html, term_spans
from ui.problem import draw_notice
from ui.session import PassageKey
from ui.wording import literal, place, plural, reflowed, seconds

QUERY = "q"
LIMITS = (10, 20, 50)


def draw() -> None:
    """Draw the search page."""
    client = session.client()
    names = [collection.name for collection in client.collections()]
    st.subheader("Search", anchor=False)
    st.caption("Every question is searched in two ways: by meaning and by words. Here is what each of them finds.")
    draw_notice()
    with st.form("search", border=False):
        query = st.text_input("Query", value=st.query_params.get(QUERY, ""), placeholder="OOMKilled exit code 137")
        with st.container(horizontal=True, vertical_alignment="bottom"):
            collections = st.multiselect("Collections", names, placeholder="All documents")
            limit = st.selectbox("Hits", LIMITS)
        submitted = st.form_submit_button("Search", type="primary", icon=":material/search:")
    if submitted:
        # In the address, so that a search can be passed on and survives a reload.
        st.query_params[QUERY] = query.strip()
    draw_requested_passage()
    if not query.strip():
        return
    with st.spinner("Searching …"):
        result = client.search(SearchRequest(query=query.strip(), collections=tuple(collections), limit=limit))
    if not result.hits:
        st.info("Nothing was found. Try other words, or other collections.", icon=":material/search_off:")
        return
    timings = result.timings_ms
    rerank = f", reranking {seconds(timings['rerank'])}" if timings.get("rerank") else ""
    st.caption(
        f"{plural(len(result.hits), 'hit')} in {seconds(timings['total'])}: "
        f"embedding {seconds(timings['embed'])}, search {seconds(timings['search'])}{rerank}"
    )
    for hit in result.hits:
        _draw_hit(hit, found_passage(hit))


def _draw_hit(hit: SearchHit, passage: FoundPassage) -> None:
    with st.container(border=True):
        st.markdown(f"**{hit.rank}. {literal(place(hit.title or hit.source, hit.page, hit.section))}**")
        st.html(scores_html(passage))
        text = marks(reflowed(hit.text), term_spans(hit.text, hit.matched_terms))
        st.html(styled(f'<div class="gw-passage gw-clamp">{text}</div>'))
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
