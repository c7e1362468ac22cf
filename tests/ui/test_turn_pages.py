"""Regenerating, editing and going on with answers, and what questions are asked with."""

from __future__ import annotations

from tests.ui.harness import Start, ask, has_button, press, until_ended, words
from tests.ui.stub_api import StubState
from tests.ui.stub_models import model_of

WHY = "Why did my pod restart?"


def test_regenerated_answer_takes_the_place_and_the_old_one_stays_reachable(start: Start, state: StubState) -> None:
    app = ask(start().run(), WHY, state)

    until_ended(press(app, "Regenerate"), state)

    assert [(asked.question, asked.replaces) for asked in state.questions] == [(WHY, ""), (WHY, "run-1")]
    assert len(app.chat_message) == 2
    assert "2\u2009/\u20092" in words(app)
    assert has_button(app, "Regenerate")
    app.button(key="earlier-run-1").click().run()
    assert "1\u2009/\u20092" in words(app)
    assert not has_button(app, "Regenerate")
    assert any(button.key == "source-run-1-1" for button in app.button)


def test_edited_question_is_sent_again_in_place_of_the_first(start: Start, state: StubState) -> None:
    app = ask(start().run(), WHY, state)
    app.button(key="edit-run-1").click().run()
    assert app.text_area(key="edited-question-run-1").value == WHY

    app.text_area(key="edited-question-run-1").set_value("Why did my job restart?")
    until_ended(press(app, "Send"), state)

    assert (state.questions[1].question, state.questions[1].replaces) == ("Why did my job restart?", "run-1")
    assert "Why did my job restart?" in words(app)
    assert WHY not in words(app)
    app.button(key="earlier-run-1").click().run()
    assert WHY in words(app)


def test_editing_is_left_without_sending(start: Start, state: StubState) -> None:
    app = ask(start().run(), WHY, state)
    app.button(key="edit-run-1").click().run()

    press(app, "Cancel")

    assert len(state.questions) == 1
    assert not [area for area in app.text_area if str(area.key).startswith("edited-question")]


def test_answer_that_was_cut_off_goes_on_below_itself(start: Start, state: StubState) -> None:
    app = ask(start().run(), "A long story", state)
    assert "cut off at its longest length" in words(app)

    until_ended(press(app, "Continue"), state)

    assert (state.questions[1].question, state.questions[1].continues) == ("A long story", "run-1")
    assert len(app.chat_message) == 2
    assert "Going on" in words(app)
    assert not has_button(app, "Continue")
    until_ended(press(app, "Regenerate"), state)
    assert (state.questions[2].replaces, state.questions[2].continues) == ("run-2", "run-1")


def test_whole_answer_offers_no_going_on(start: Start, state: StubState) -> None:
    assert not has_button(ask(start().run(), WHY, state), "Continue")


def test_earlier_turns_offer_nothing_to_be_asked_anew(start: Start, state: StubState) -> None:
    app = ask(ask(start().run(), WHY, state), "And then?", state)

    assert [button.key for button in app.button if button.label == "Regenerate"] == ["regenerate-run-2"]


def test_one_model_is_named_with_what_it_can(start: Start) -> None:
    app = start().run()

    assert [box.label for box in app.selectbox] == []
    can = "llama.cpp · 4,096 tokens of context · calls tools through a grammar · keeps to a JSON Schema"
    assert f"**small** · {can}" in words(app)


def test_model_and_sampling_are_sent_with_each_question_of_the_thread(start: Start, state: StubState) -> None:
    state.models.models.append(model_of("big"))
    app = start().run()
    app.selectbox(key="asked-with--0-model").set_value("big").run()
    app.number_input(key="asked-with--0-temperature").set_value(0.7).run()
    app.number_input(key="asked-with--0-top_k").set_value(20).run()
    app.text_area(key="asked-with--0-stop").set_value("END\nFIN").run()
    assert "32,768 tokens of context" in words(app)

    ask(ask(app, WHY, state), "And then?", state)

    for asked in state.questions:
        assert (asked.model, asked.chosen()) == ("big", {"temperature": 0.7, "top_k": 20, "stop": ("END", "FIN")})
    press(app, "New chat")
    ask(app, "Another one?", state)
    assert (state.questions[2].model, state.questions[2].chosen()) == ("", {})


def test_sampling_is_kept_while_another_page_is_open_and_can_be_reset(start: Start, state: StubState) -> None:
    app = ask(start().run(), WHY, state)
    app.number_input(key="asked-with-thread-1-0-temperature").set_value(0.5).run()
    app.switch_page("views/memory.py").run()
    app.switch_page("views/chat.py").run()
    assert app.number_input(key="asked-with-thread-1-0-temperature").value == 0.5

    press(app, "Reset")
    ask(app, "And then?", state)

    assert state.questions[1].chosen() == {}
    assert app.number_input(key="asked-with-thread-1-1-temperature").value is None


def test_stops_that_the_api_would_not_take_are_said_and_not_sent(start: Start, state: StubState) -> None:
    app = start().run()
    app.text_area(key="asked-with--0-stop").set_value("\n".join("abcdefghi")).run()

    assert "at most 8 texts" in app.error[0].value
    ask(app, WHY, state)
    assert state.questions[0].stop is None
