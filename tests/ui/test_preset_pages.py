"""Presets in the chat and on their page."""

from __future__ import annotations

import json

from app.preset_schema import Preset, PresetExample, PresetSampling
from tests.ui.harness import Start, ask, has_button, press, words
from tests.ui.stub_api import StubState
from tests.ui.stub_models import model_of

BRIEF = Preset(
    description="Short answers",
    system_prompt="Be brief.",
    model="small",
    sampling=PresetSampling(temperature=0.3),
    examples=(PresetExample(question="Why?", answer="Because."),),
)


def test_preset_that_was_picked_for_a_new_chat_is_kept_by_its_thread(start: Start, state: StubState) -> None:
    state.models.save("brief", BRIEF)
    app = start().run()
    app.selectbox(key="preset-of--").set_value("brief").run()
    assert "Short answers · model small · temperature 0.3 · 1 example" in words(app)

    ask(app, "Why did my pod restart?", state)

    assert state.threads["thread-1"].preset == "brief"
    assert state.questions[0].preset is None
    assert app.selectbox(key="preset-of-thread-1-brief").value == "brief"
    press(app, "New chat")
    assert app.selectbox(key="preset-of--").value == ""


def test_model_of_the_preset_is_shown_and_left_to_the_api(start: Start, state: StubState) -> None:
    state.models.models.append(model_of("big"))
    state.models.save("brief", BRIEF.model_copy(update={"model": "big"}))
    app = start().run()
    assert "**small** · llama.cpp" in words(app)

    app.selectbox(key="preset-of--").set_value("brief").run()

    assert "**big** · vLLM" in words(app)
    ask(app, "Why did my pod restart?", state)
    assert state.questions[0].model == ""


def test_preset_of_a_thread_is_changed_and_taken_off(start: Start, state: StubState) -> None:
    state.models.save("brief", BRIEF)
    app = ask(start().run(), "Why did my pod restart?", state)

    app.selectbox(key="preset-of-thread-1-").set_value("brief").run()
    assert state.threads["thread-1"].preset == "brief"

    app.selectbox(key="preset-of-thread-1-brief").set_value("").run()
    assert state.threads["thread-1"].preset == ""


def test_new_preset_is_saved_with_all_its_fields(start: Start, state: StubState) -> None:
    state.models.models.append(model_of("big"))
    app = start().run().switch_page("views/presets.py").run()
    app.text_input(key="preset-name").set_value("on-call").run()
    app.text_area(key="preset-new-system").set_value("Be brief.")
    app.selectbox(key="preset-new-model").set_value("big")
    app.number_input(key="preset-new-max_tokens").set_value(99)
    app.multiselect(key="preset-new-collections").set_value(["handbook"])
    app.text_area(key="preset-new-tools").set_value("cluster__get_*\n\nfind")
    app.text_area(key="preset-new-schema").set_value('{"type": "object"}')
    press(app, "Add an example")
    app.text_area(key="preset-new-example-0-question").set_value("Why?")
    app.text_area(key="preset-new-example-0-answer").set_value("Because.").run()

    press(app, "Save")

    assert not app.exception
    assert "Saved on-call, version 1." in app.success[0].value.replace("\\", "")
    assert state.models.saved("on-call").preset == Preset(
        system_prompt="Be brief.", model="big", sampling=PresetSampling(max_tokens=99), collections=("handbook",),
        tools=("cluster__get_*", "find"), output_schema={"type": "object"},
        examples=(PresetExample(question="Why?", answer="Because."),),
    )  # fmt: skip
    assert app.query_params["preset"] == "on-call"


def test_changed_preset_is_a_new_version_and_an_old_one_can_be_made_current(start: Start, state: StubState) -> None:
    state.models.save("brief", BRIEF)
    app = start()
    app.query_params["preset"] = "brief"
    app.run().switch_page("views/presets.py").run()
    app.selectbox[0].set_value("brief").run()
    app.text_area(key="preset-brief-1-system").set_value("Be very brief.").run()
    press(app, "Remove")
    press(app, "Save")

    changed = state.models.saved("brief")
    assert (changed.version, changed.preset.system_prompt, changed.preset.examples) == (2, "Be very brief.", ())
    assert changed.preset.sampling == BRIEF.sampling
    press(app, "Make current")
    assert state.models.current["brief"] == 1
    assert app.text_area(key="preset-brief-1-system").value == "Be brief."
    assert app.text_area(key="preset-brief-1-example-0-answer").value == "Because."


def test_what_makes_no_preset_is_said_and_not_saved(start: Start, state: StubState) -> None:
    state.models.save("brief", BRIEF)
    app = start().run().switch_page("views/presets.py").run()
    app.selectbox[0].set_value("brief").run()

    app.text_area(key="preset-brief-1-schema").set_value("{half").run()
    press(app, "Save")
    assert "The schema is no JSON" in app.error[0].value
    app.text_area(key="preset-brief-1-schema").set_value("").run()
    app.text_area(key="preset-brief-1-example-0-answer").set_value(" ").run()
    press(app, "Save")
    assert "an example needs a question and an answer" in words(app)
    assert len(state.models.presets["brief"]) == 1


def test_refusal_of_the_api_is_said(start: Start, state: StubState) -> None:
    state.models.save("brief", BRIEF.model_copy(update={"model": "gone"}))
    app = start().run().switch_page("views/presets.py").run()
    app.selectbox[0].set_value("brief").run()

    press(app, "Save")

    assert "There is no model 'gone'." in words(app)


def test_preset_is_deleted_after_a_question(start: Start, state: StubState) -> None:
    state.models.save("brief", BRIEF)
    app = start().run().switch_page("views/presets.py").run()
    app.selectbox[0].set_value("brief").run()

    app.button(key="delete-preset").click().run()
    assert state.models.presets
    app.button(key="confirm-delete-preset").click().run()

    assert not state.models.presets
    assert not has_button(app, "Export")


def test_file_of_a_preset_comes_in_as_a_version(start: Start, state: StubState) -> None:
    file = {"groundwork_preset": 1, "name": "brief", "preset": {"system_prompt": "Be brief."}}
    app = start().run().switch_page("views/presets.py").run()

    app.file_uploader(key="preset-file").set_value(("brief.json", json.dumps(file).encode(), "application/json")).run()
    app.button(key="save-import").click().run()
    assert state.models.saved("brief").preset.system_prompt == "Be brief."
    app.file_uploader(key="preset-file").set_value(("x.json", b'{"name": 3}', "application/json")).run()
    app.button(key="save-import").click().run()

    assert "This is no file of a preset" in words(app)
