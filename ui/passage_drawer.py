"""The drawer that shows a passage where it stands in its document, the quoted words marked."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

import streamlit as st

from agents.answer import Citation
from app.approval_schema import Approval
from app.attachment_schema import Attachment
from ui import session
from ui.call_wording import moment
from ui.client import ApiClient
from ui.errors import ApiRefused, UiError
from ui.markup import text_html
from ui.pictures import draw_picture
from ui.session import PassageKey
from ui.wording import literal, place, reflowed

CHAT_PAGE = "views/chat.py"
DOCUMENTS_PAGE = "views/documents.py"
PICTURE_WIDTH = 480
ATTACHED_CHARACTERS = 20_000
"""How much of an attached text is shown where no quote is meant."""
CONTEXT_CHARACTERS = 700
"""How much of the document is shown on each side of the quote, up to the next paragraph's end."""


class Passage(NamedTuple):
    """A piece of a document's text with the span that is meant."""

    heading: str
    source: str
    text: str
    start: int
    end: int
    remark: str = ""
    is_result: bool = False
    """Whether it is what a tool returned, not a document's."""
    document_id: str = ""
    picture: PassageKey | None = None
    """The picture whose words the text is."""


def draw_requested_passage() -> None:
    """Open the drawer if the reader asked for a passage."""
    if wanted := session.take_passage():
        _drawer(wanted)


@st.dialog("Source", width="small", position="right", icon=":material/format_quote:")
def _drawer(wanted: PassageKey) -> None:
    try:
        with st.spinner("Opening …"):
            passage = _passage(wanted)
    except UiError as error:
        st.error(literal(str(error)), icon=":material/error:")
        return
    number = f"[{wanted.citation}] " if wanted.citation else ""
    st.markdown(f"**{literal(number + passage.heading)}**")
    st.caption(literal(passage.source))
    if passage.remark:
        st.warning(passage.remark, icon=":material/warning:")
    if passage.picture:
        draw_picture(passage.picture.thread_id, passage.picture.attachment_id, width=PICTURE_WIDTH)
        st.caption("Words that were read from it:" if passage.text else "No words were read from it.")
    text = passage.text if passage.is_result else reflowed(passage.text)
    st.html(text_html(text, [(passage.start, passage.end)]))
    if passage.is_result:
        return
    if st.button("Open the document", icon=":material/description:", key="open-document"):
        st.switch_page(DOCUMENTS_PAGE, query_params={"document": passage.document_id})


def _passage(wanted: PassageKey) -> Passage:
    client = session.client()
    if wanted.call_id:
        return _result(client, wanted.call_id)
    if wanted.attachment_id:
        return _attached_text(client, wanted.thread_id, wanted.attachment_id)
    if not wanted.citation:
        return _chunk(client, wanted)
    citation = _citation(client, wanted)
    if citation.attachment_id:
        return _quoted_attachment(client, client.run(wanted.run_id).thread_id, citation)
    return _quoted_result(client, citation) if citation.call_id else _cited(client, citation)


def _citation(client: ApiClient, wanted: PassageKey) -> Citation:
    answer = client.run(wanted.run_id).answer
    citations = () if answer is None else answer.citations
    citation = next((entry for entry in citations if entry.number == wanted.citation), None)
    if citation is None:
        raise UiError(f"This answer has no source {wanted.citation}.")
    return citation


def _result(client: ApiClient, call_id: str) -> Passage:
    """The whole result of a call."""
    card = client.approvals.card(call_id)
    approval = card.approval
    text = card.result_text or ""
    return Passage(approval.tool, _result_source(approval), text, 0, 0, is_result=True)


def _quoted_result(client: ApiClient, citation: Citation) -> Passage:
    """The result that is quoted, which does not change any more, with the quote marked."""
    passage = _result(client, citation.call_id)
    if passage.text[citation.char_start : citation.char_end] != citation.quote:
        return passage._replace(
            text=citation.quote, end=len(citation.quote), remark="The result is no longer stored; this was quoted."
        )
    return passage._replace(start=citation.char_start, end=citation.char_end)


def _attached_text(client: ApiClient, thread_id: str, attachment_id: str) -> Passage:
    """A text that is attached to a chat, from its beginning."""
    read = client.attachments.read(thread_id, attachment_id)
    text, remark = read.text, ""
    if len(text) > ATTACHED_CHARACTERS:
        remark = f"These are the first {ATTACHED_CHARACTERS:,} of {len(text):,} characters."
        text = text[:ATTACHED_CHARACTERS]
    picture = PassageKey("", "", thread_id=thread_id, attachment_id=attachment_id) if read.attachment.picture else None
    source = _attached_source(read.attachment)
    return Passage(read.attachment.name, source, text, 0, 0, remark, is_result=True, picture=picture)


def _quoted_attachment(client: ApiClient, thread_id: str, citation: Citation) -> Passage:
    """The quote where it stands in the attached text, which does not change any more."""
    read = client.attachments.read(thread_id, citation.attachment_id)
    remark = "The text is no longer attached to this chat." if read.attachment.removed_at else ""
    passage = cut_out(read.text, citation)
    return passage._replace(source=_attached_source(read.attachment), remark=remark, is_result=True)


def _attached_source(attachment: Attachment) -> str:
    origin = f"{attachment.uri} of {attachment.server}" if attachment.server else attachment.name
    return f"Attached to this chat: {origin}, {moment(datetime.fromisoformat(attachment.attached_at))}"


def _result_source(approval: Approval) -> str:
    return f"Result of a tool of {approval.server}, {moment(approval.proposed_at)}"


def _cited(client: ApiClient, citation: Citation) -> Passage:
    try:
        text = client.inside.text(citation.document_id)
    except ApiRefused as error:
        if error.status != 404:
            raise
        return _quote_alone(citation, "The document is no longer stored; this is what was quoted from it.")
    if text[citation.char_start : citation.char_end] != citation.quote:
        return _quote_alone(citation, "The document has changed since; this is what was quoted from it.")
    return cut_out(text, citation)


def cut_out(text: str, citation: Citation) -> Passage:
    """The quote with its surroundings, from the start of a paragraph to the end of one."""
    start = _paragraph_start(text, citation.char_start)
    end = _paragraph_end(text, citation.char_end)
    before = "" if start == 0 else "… "
    after = "" if end == len(text) else " …"
    shift = len(before) - start
    return Passage(
        heading=place(citation.title, citation.page, citation.section),
        source=citation.source,
        text=f"{before}{text[start:end]}{after}",
        start=citation.char_start + shift,
        end=citation.char_end + shift,
        document_id=citation.document_id,
    )


def _paragraph_start(text: str, position: int) -> int:
    earliest = max(0, position - CONTEXT_CHARACTERS)
    if earliest == 0:
        return 0
    border = text.find("\n\n", earliest, position)
    return earliest if border < 0 else border + 2


def _paragraph_end(text: str, position: int) -> int:
    latest = min(len(text), position + CONTEXT_CHARACTERS)
    if latest == len(text):
        return latest
    border = text.rfind("\n\n", position, latest)
    return latest if border < 0 else border


def _quote_alone(citation: Citation, remark: str) -> Passage:
    heading = place(citation.title, citation.page, citation.section)
    return Passage(
        heading,
        citation.source,
        citation.quote,
        0,
        len(citation.quote),
        remark,
        document_id=citation.document_id,
    )


def _chunk(client: ApiClient, wanted: PassageKey) -> Passage:
    record = client.document(wanted.document_id)
    chunks = client.inside.chunks(wanted.document_id).chunks
    chunk = next((entry for entry in chunks if entry.chunk_id == wanted.chunk_id), None)
    if chunk is None:
        raise UiError("The document has changed since; this passage is no longer stored.")
    return Passage(
        place(record.title, chunk.page, chunk.section), record.source, chunk.text, 0, 0, document_id=wanted.document_id
    )
