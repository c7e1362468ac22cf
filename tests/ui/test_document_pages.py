"""What the documents page shows of a document's inside, and collections, in Streamlit's own test harness."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest

from app.schema import ChunkView
from tests.ui.harness import Start, has_button, html, press, words
from tests.ui.stub_api import PIXEL, StubState
from ui.document_html import cut_text_html


def _open(start: Start, document_id: str = "") -> AppTest:
    app = start()
    app.run().switch_page("views/documents.py")
    if document_id:
        app.query_params["document"] = document_id
    app.run()
    assert not app.exception
    return app


def _made_pdf(state: StubState) -> None:
    record, text = state.documents["doc-1"]
    state.documents["doc-1"] = (record.model_copy(update={"media_type": "application/pdf", "pages": 1}), text)


def test_stages_of_a_document_that_is_in_all_have_their_times(start: Start) -> None:
    shown = html(_open(start, "doc-1"))

    assert shown.count('<li class="done">') == 6
    assert '<li class="done">embedded<small>40 ms</small></li>' in shown


def test_document_that_failed_says_at_which_stage_and_why(start: Start) -> None:
    app = _open(start, "doc-3")

    assert '<li class="failed">parsed<small>encrypted, attempt 2</small></li>' in html(app)
    assert '<li class="open">embedded</li>' in html(app)
    assert "The file is protected by a password" in words(app)


def test_text_stands_beside_the_passages_it_was_cut_into(start: Start) -> None:
    shown = html(_open(start, "doc-1"))

    assert '<span class="even"><b>1</b># Memory limits' in shown
    assert "<summary><b>Passage 1</b>" in shown


def test_page_of_a_pdf_is_shown_with_the_place_of_a_passage(start: Start, state: StubState) -> None:
    _made_pdf(state)
    app = _open(start, "doc-1")

    app.session_state["document-tabs"] = "Pages"
    app.run()

    assert f'src="data:image/png;base64,{PIXEL}"' in html(app)
    assert '<i style="left:10.00%;top:20.00%;width:80.00%;height:5.00%"></i>' in html(app)


def test_page_that_cannot_be_drawn_any_more_says_why(start: Start, state: StubState) -> None:
    _made_pdf(state)
    state.originals = False
    app = _open(start, "doc-1")

    app.session_state["document-tabs"] = "Pages"
    app.run()

    assert "The file that this document was made of is gone." in words(app)


def test_file_inside_another_leads_there_and_back(start: Start, state: StubState) -> None:
    record, text = state.documents["doc-2"]
    state.documents["doc-2"] = (record.model_copy(update={"parent_id": "doc-1", "title": "Attachment"}), text)
    holder, text = state.documents["doc-1"]
    state.documents["doc-1"] = (holder.model_copy(update={"children": 1}), text)
    app = _open(start, "doc-1")

    press(app, "Attachment")
    assert app.query_params["document"] == "doc-2"

    assert has_button(app, "The file that holds it")


def test_collection_is_created_described_and_deleted_with_a_receipt(start: Start, state: StubState) -> None:
    app = _open(start)
    app.text_input(key="collection-name").set_value("runbooks")
    app.text_input(key="collection-description").set_value("What to do at night")
    press(app, "Create")
    assert "What to do at night" in words(app)

    app.text_area(key="about-runbooks").set_value("What to do by day")
    app.button(key="save-runbooks").click().run()
    assert state.described == {"runbooks": "What to do by day"}

    app.button(key="delete-collection-handbook").click().run()
    app.button(key="confirm-delete-collection").click().run()

    assert "Deleted handbook with 2 documents; 0 passages of it left in the store" in words(app)
    assert [record.collection for record, _ in state.documents.values()] == ["other"]


def _chunk(position: int, start: int, end: int) -> ChunkView:
    return ChunkView(
        chunk_id=str(position), position=position, char_start=start, char_end=end, page=None, section="",
        token_count=1, text="",
    )  # fmt: skip


def test_every_character_of_the_text_is_shown_once_whatever_the_passages() -> None:
    text = "0123456789abcdefghij"
    chunks = [_chunk(0, 2, 8), _chunk(1, 6, 12), _chunk(2, 14, 18)]

    for start in range(len(text)):
        for end in range(start, len(text) + 1):
            shown = cut_text_html(text, chunks, start, end).split('gw-cut">')[1]
            for number in ("<b>1</b>", "<b>2</b>", "<b>3</b>"):
                shown = shown.replace(number, "")
            plain = shown.split("</div>")[0]
            for tag in ('<span class="odd">', '<span class="even">', "</span>", "<s>", "</s>"):
                plain = plain.replace(tag, "")
            assert plain == text[start:end]
