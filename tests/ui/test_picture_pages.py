"""Pictures on the chat page: those that wait, those beside a question, and what is said of them under an answer."""

from __future__ import annotations

import pytest

from agents.answer import Claim
from agents.picture_record import GivenPicture
from tests.ui.harness import Start, ask, words
from tests.ui.stub_api import StubState
from tests.ui.stub_attachments import picture

WHY = "Why did my pod restart?"


def given(*, seen: bool) -> GivenPicture:
    return GivenPicture(
        attachment_id="shot", name="shot.png", media_type="image/png", width=320, height=200, sha256="", words=4,
        seen=seen,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("seen", "told"),
    [
        (True, "shot.png: seen by the model, with 4 words read from it."),
        (False, "shot.png: the model cannot see it and was given 4 words read from it."),
    ],
)
def test_picture_stands_beside_its_question_with_what_the_model_was_given(
    start: Start, state: StubState, seen: bool, told: str
) -> None:
    app = ask(start().run(), WHY, state)
    run = state.runs["run-1"]
    answer = run.info.answer
    assert answer is not None
    claims = (Claim(text="It restarts.", verdict="unsupported"),)
    answer = answer.model_copy(update={"claims": claims, "picture_claims": (0,)})
    run.info = run.info.model_copy(update={"pictures": (given(seen=seen),), "answer": answer})

    app.run()

    assert told in words(app)
    assert "Sentence 1 stands in the words of the picture, and in no document." in words(app)
    assert ("What the model says of the look of a picture cannot be checked." in words(app)) is seen
    assert [element.type for element in app.chat_message[0]].count("image") == 1


def test_picture_that_waits_is_a_chip_that_says_so_and_opens(start: Start, state: StubState) -> None:
    app = ask(start().run(), WHY, state)
    state.attachments.waiting = [picture("thread-1")]

    app.run()

    chip = app.button(key="attached-shot")
    assert chip.label == "shot\\.png"
    assert "4 words read from it; it goes with your next question" in chip.help
    app = chip.click().run()
    assert "Words that were read from it:" in words(app)


def test_picture_that_is_gone_is_said_in_its_place(start: Start, state: StubState) -> None:
    app = ask(start().run(), WHY, state)
    state.attachments.gone = True
    run = state.runs["run-1"]
    lost = given(seen=True).model_copy(update={"attachment_id": "lost"})
    run.info = run.info.model_copy(update={"pictures": (lost,)})
    app.run()
    assert "This picture is not attached to the chat." in words(app)
    assert not app.exception
