"""The pages in Streamlit's own test harness: every state that needs no browser."""

from __future__ import annotations

from typing import cast

import pytest
from streamlit.testing.v1 import AppTest

from tests.ui.harness import MAIN, SECONDS, Start, ask, has_button, html, press, words
from tests.ui.script import HOSTILE
from tests.ui.servers import free_port
from tests.ui.stub_api import StubState


def _column(app: AppTest, name: str) -> list[str]:
    return [str(value) for value in cast("list[object]", app.dataframe[0].value[name].tolist())]


def test_empty_chat_offers_questions(start: Start) -> None:
    app = start().run()

    assert not app.exception
    assert has_button(app, "Why did my pod restart? Last termination reason: OOMKilled".replace(":", "\\:"))


def test_without_documents_the_chat_says_how_to_add_some(start: Start, state: StubState) -> None:
    state.documents.clear()

    app = start().run()

    assert "There are no documents yet" in app.info[0].value
    assert not any(str(button.key).startswith("suggestion") for button in app.button)


def test_answer_is_drawn_with_sources_figures_and_verdicts(start: Start, state: StubState) -> None:
    app = ask(start().run(), "Why did my pod restart?", state)

    assert not app.exception
    assert len(app.get("bidi_component")) == 1
    assert [button.label for button in app.button if str(button.key).startswith("source-")] == [
        "\\[1\\] Memory limits · page 3",
        "\\[2, 3\\] Memory limits · page 3 · What to do",
    ]
    figures = words(app)
    assert "2 verified, 1 partly supported, 1 not supported" in figures
    assert "first token after 840 ms · 25.3 tokens/s · 1,800 tokens read, 64 written" in figures


def test_citation_opens_the_passage_with_the_quote_marked(start: Start, state: StubState) -> None:
    app = ask(start().run(), "Why did my pod restart?", state)

    app.button(key="source-run-1-2").click().run()

    assert "<mark>Raise the limit in the deployment</mark>" in html(app)
    assert "/handbook/memory.md" in words(app)


def test_citation_of_a_changed_document_shows_the_quote_and_says_so(start: Start, state: StubState) -> None:
    app = ask(start().run(), "Why did my pod restart?", state)
    record, text = state.documents["doc-1"]
    state.documents["doc-1"] = (record, f"New first line. {text}")

    app.button(key="source-run-1-2").click().run()

    assert "<mark>Raise the limit in the deployment</mark>" in html(app)
    assert "The document has changed since" in app.warning[0].value


def test_citation_of_a_deleted_document_shows_the_quote_and_says_so(start: Start, state: StubState) -> None:
    app = ask(start().run(), "Why did my pod restart?", state)
    del state.documents["doc-1"]

    app.button(key="source-run-1-2").click().run()

    assert "<mark>Raise the limit in the deployment</mark>" in html(app)
    assert "no longer stored" in app.warning[0].value


def test_budget_is_shown_under_the_answer_with_what_was_left_out(start: Start, state: StubState) -> None:
    shown = html(ask(start().run(), "Why did my pod restart?", state))

    assert "1,710 of 4,096 tokens of context · left out: 1 passage" in shown
    assert "/handbook/long.md: 900 tokens, did not fit" in shown


def test_details_show_claims_and_evidence(start: Start, state: StubState) -> None:
    app = ask(start().run(), "Why did my pod restart?", state)
    assert "Explained: unsupported." not in html(app)

    app.session_state["details-run-1"] = True
    app.run()

    shown = html(app)
    assert "Not supported. Explained: unsupported." in shown
    assert "meaning: rank 1, cosine 0.71" in shown


def test_abstention_says_what_was_searched_and_what_stood_nearest(start: Start, state: StubState) -> None:
    app = ask(start().run(), "Who won the 1998 football world cup?", state)

    assert "Nothing in the documents is near enough" in words(app)
    assert "Searched: Who won the 1998 football world cup? in all collections" in html(app)
    app.button(key="nearest-run-1-1").click().run()
    assert "A container may use memory up to its limit" in html(app)


def test_failed_run_shows_its_sentence_and_can_be_asked_again(start: Start, state: StubState) -> None:
    app = ask(start().run(), "fail", state)
    assert "The model server does not answer" in words(app)

    press(app, "Ask again")

    assert [run.info.question for run in state.runs.values()] == ["fail", "fail"]


def test_running_answer_can_be_stopped_and_keeps_what_was_written(start: Start, state: StubState) -> None:
    app = start().run()
    app.chat_input[0].set_value("wait").run()
    assert app.chat_input[0].disabled

    press(app, "Stop")

    assert state.cancels == ["run-1"]
    assert "Stopped before it was finished" in words(app)
    assert not app.chat_input[0].disabled


def test_session_that_ends_while_an_answer_is_written_stops_nothing(start: Start, state: StubState) -> None:
    app = start().run()
    app.chat_input[0].set_value("wait").run()
    del app

    other = start()
    other.query_params["thread"] = "thread-1"
    other.run()

    assert state.cancels == []
    assert has_button(other, "Stop")
    press(other, "Stop")


def test_second_session_shows_the_thread_that_its_address_names(start: Start, state: StubState) -> None:
    ask(start().run(), "Why did my pod restart?", state)

    other = start()
    other.query_params["thread"] = "thread-1"
    other.run()

    assert "Why did my pod restart?" in words(other)
    assert len(other.get("bidi_component")) == 1


def test_unknown_thread_is_one_sentence_and_a_way_out(start: Start) -> None:
    app = start()
    app.query_params["thread"] = "gone"
    app.run()
    assert "There is no thread 'gone'" in words(app)

    press(app, "Start a new chat")

    assert not app.error
    assert "thread" not in app.query_params


def test_threads_are_listed_opened_and_deleted(start: Start, state: StubState) -> None:
    app = ask(start().run(), "Why did my pod restart?", state)
    press(app, "New chat")
    assert not app.chat_message

    app.button(key="open-thread-1").click().run()
    assert len(app.chat_message) == 2
    app.button(key="delete-thread-1").click().run()
    app.button(key="confirm-delete-thread").click().run()

    assert state.threads == {}
    assert not app.chat_message
    assert "Deleted" in app.success[0].value


def test_chosen_collections_go_with_the_question(start: Start, state: StubState) -> None:
    app = start().run()
    app.multiselect[0].set_value(["other"]).run()
    ask(app, "Why did my pod restart?", state)

    assert state.questions[-1].collections == ("other",)


def test_api_that_is_down_is_one_sentence_and_no_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROUNDWORK_API_URL", f"http://127.0.0.1:{free_port()}")

    app = AppTest.from_file(str(MAIN), default_timeout=SECONDS).run()

    assert not app.exception
    assert "start it with: groundwork up" in words(app)
    assert has_button(app, "Try again")


def test_documents_are_listed_with_their_state_and_reason(start: Start) -> None:
    app = start().run().switch_page("views/documents.py").run()

    assert not app.exception
    assert _column(app, "title") == ["Memory limits", f"Hostile {HOSTILE}", "/handbook/locked.pdf"]
    assert _column(app, "status") == ["ready", "ready", "failed"]
    assert _column(app, "reason")[2].startswith("encrypted: The file is protected by a password")
    assert "Ledger and store hold the same passages" in words(app)


def test_ledger_and_store_that_differ_are_reported(start: Start, state: StubState) -> None:
    state.consistent = False

    app = start().run().switch_page("views/documents.py").run()

    assert "2 passages missing in the store" in app.warning[0].value


def test_documents_are_found_by_words_of_title_and_source(start: Start) -> None:
    app = start().run().switch_page("views/documents.py").run()

    app.text_input(key="find-document").set_value("handbook LOCKED").run()

    assert _column(app, "title") == ["/handbook/locked.pdf"]


def test_document_is_opened_read_and_deleted_with_a_receipt(start: Start, state: StubState) -> None:
    app = start().run().switch_page("views/documents.py").run()
    app.selectbox(key="document-to-open").set_value("doc-1").run()
    assert app.query_params["document"] == "doc-1"
    assert "A container may use memory up to its limit" in html(app)

    app.button(key="delete-document").click().run()
    app.button(key="confirm-delete-document").click().run()

    assert "doc-1" not in state.documents
    assert "Deleted /handbook/memory.md; 0 passages of it left in the store" in words(app)


def test_uploaded_files_are_reported_one_by_one(start: Start, state: StubState) -> None:
    app = start().run().switch_page("views/documents.py").run()

    app.file_uploader(key="upload-files").set_value([("note.md", b"A note.", "text/markdown")])
    press(app, "Upload")

    assert "note.md** indexed: 1 passage" in words(app)
    assert state.documents["doc-4"][0].collection == "default"


def test_search_explains_each_hit_and_opens_a_passage(start: Start) -> None:
    app = start().run().switch_page("views/search.py").run()

    app.text_input[0].set_value("memory limit")
    press(app, "Search")

    shown = html(app)
    assert "meaning: rank 1, cosine 0.80" in shown
    assert "words: rank 1, BM25 9.10" in shown
    assert "not found by words" in shown
    assert "<mark>limit</mark>" in shown
    assert '<th scope="row">Words</th><td>1</td><td>9.100</td><td>0.880</td><td>0.60</td><td>0.528</td>' in shown
    assert '<th scope="row">limit</th><td>2</td><td>4.25</td><td>4.55</td>' in shown
    assert "Reranked by learned 1 from 3 to 1, score 2.500. It is made of: coverage +1.20, cosine +0.40." in shown
    assert "Not in it: memory, limit" in shown
    assert "1,200 passages searched, 34 cut by filters" in words(app)
    assert "In the prompt" not in words(app)
    app.button(key="read-doc-1-0").click().run()
    assert not app.exception


def test_search_says_which_hits_the_model_would_be_given(start: Start, state: StubState) -> None:
    app = start().run().switch_page("views/search.py").run()

    app.text_input[0].set_value("memory limit")
    app.checkbox[0].check()
    press(app, "Search")

    assert "In the prompt as passage 1, 213 tokens" in words(app)
    assert "Not in the prompt: no room left, 640 tokens" in words(app)
    assert "4,096 tokens of context" in html(app)


def test_filter_that_was_read_from_the_words_can_be_switched_off_and_on(start: Start) -> None:
    app = start().run().switch_page("views/search.py").run()

    app.text_input[0].set_value("limits in the runbooks collection")
    press(app, "Search")
    assert app.pills[0].value == ["collection=runbooks"]
    assert "Searched for: limits" in words(app)

    app.pills[0].set_value([]).run()
    assert "Searched for" not in words(app)
    app.pills[0].set_value(["collection=runbooks"]).run()
    assert "Searched for: limits" in words(app)
    assert not app.exception
