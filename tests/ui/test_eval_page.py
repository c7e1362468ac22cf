from __future__ import annotations

from streamlit.testing.v1 import AppTest

from app.eval_schema import EvalQuestion, KeptQuestion
from tests.ui.harness import Start, has_button, html, press, wait_for, words
from tests.ui.script import HOSTILE
from tests.ui.stub_api import StubState
from tests.ui.stub_evals import AT, eval_detail
from ui.eval_detail import figures_html


def _open(start: Start) -> AppTest:
    app = start().run().switch_page("views/evals.py").run()
    assert not app.exception
    return app


def test_evaluations_are_listed_with_their_headline(start: Start, state: StubState) -> None:
    state.evals.details["one"] = eval_detail("one", True, False)
    text = words(_open(start))
    assert "set one" in text
    assert "answer match 50%" in text
    assert "2 of 2 questions" in text


def test_an_evaluation_shows_its_figures_and_what_did_not_pass(start: Start, state: StubState) -> None:
    state.evals.details["one"] = eval_detail("one", True, False)
    app = press(_open(start), "Open")
    assert app.query_params["eval"] == "one"
    assert "<td>answer match</td>" in html(app)
    assert "<td>21.0 s</td>" in html(app)
    assert [box.label.replace("\\", "") for box in app.expander] == ["q2: What does exit code 137 mean?"]


def test_two_evaluations_are_compared(start: Start, state: StubState) -> None:
    state.evals.details["new"] = eval_detail("new", True, True)
    state.evals.details["old"] = eval_detail("old", True, False)
    app = press(_open(start), "Open")
    app.selectbox[0].set_value("set old, 2026-01-05 10:00, old").run()
    assert "+0.500" in html(app)
    assert "q2 passes now" in words(app).replace("**", "")


def test_an_evaluation_that_goes_on_shows_how_far_it_is_and_can_be_stopped(start: Start, state: StubState) -> None:
    state.evals.details["one"] = eval_detail("one", True, state="running")
    app = press(_open(start), "Open")
    press(app, "Stop")
    assert state.evals.stopped == ["one"]


def test_kept_questions_are_asked_without_a_file(start: Start, state: StubState) -> None:
    app = _open(start)
    assert next(button for button in app.button if button.label == "Start").disabled
    question = EvalQuestion(id="chat-r", question="Why?")
    state.evals.kept["chat-r"] = KeptQuestion(question=question, run_id="r", created_at=AT)
    app = press(_open(start), "Start")
    (request,) = state.evals.started
    assert ([question.id for question in request.questions], request.kind) == (["chat-r"], "answers")
    assert app.query_params["eval"] == "new-1"


def test_an_answer_becomes_a_case_with_one_click_and_what_it_must_contain_is_changed(
    start: Start, state: StubState
) -> None:
    app = start().run()
    app.chat_input[0].set_value("Why did it restart?").run()
    app = wait_for(app, state, run_state="answered")
    app = press(app, "Save as eval case")
    assert "Kept as a case" in words(app)
    (question_id,) = state.evals.kept
    app = app.switch_page("views/evals.py").run()
    app.text_area(key=f"kept-must-{question_id}").set_value("137\n\nOOMKilled||out of memory")
    press(app, "Save")
    assert state.evals.kept[question_id].question.must_contain == ("137", "OOMKilled||out of memory")
    assert has_button(press(app, "Forget"), "Start")
    assert state.evals.kept == {}


def test_names_from_reports_are_no_markup() -> None:
    assert HOSTILE not in figures_html({HOSTILE: 0.5})


def test_an_empty_page_says_what_to_do(start: Start) -> None:
    text = words(_open(start))
    assert "Nothing has been measured yet" in text
    assert "Save as eval case" in text
