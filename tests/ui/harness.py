"""Reading pages in Streamlit's own test harness."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Html

from tests.ui.stub_api import StubState

MAIN = Path(__file__).parents[2] / "ui" / "main.py"
SECONDS = 60

Start = Callable[[], AppTest]


def has_button(app: AppTest, label: str) -> bool:
    """Whether the page has a button of that label."""
    return any(button.label == label for button in app.button)


def press(app: AppTest, label: str) -> AppTest:
    """Press the first button of that label."""
    return next(button for button in app.button if button.label == label).click().run()


def ask(app: AppTest, question: str, state: StubState) -> AppTest:
    """Ask, and draw the page until the run has ended."""
    app.chat_input[0].set_value(question).run()
    return until_ended(app, state)


def until_ended(app: AppTest, state: StubState) -> AppTest:
    """Draw the page until no run goes on."""
    for _ in range(20):
        if all(run.info.state != "running" for run in state.runs.values()) and not has_button(app, "Stop"):
            return app
        app.run()
    raise AssertionError("the run did not end")


def html(app: AppTest) -> str:
    """All HTML of the page."""
    return "\n".join(element.body for element in app.get("html") if isinstance(element, Html))


def words(app: AppTest) -> str:
    """All text of the page that is no HTML."""
    texts = [*app.markdown, *app.caption, *app.info, *app.error, *app.success, *app.warning, *app.text]
    return "\n".join(str(element.value) for element in texts).replace("\\", "")


def wait_for(app: AppTest, state: StubState, *, run_state: str) -> AppTest:
    """Draw the page until the newest run is in that state."""
    for _ in range(40):
        if list(state.runs.values())[-1].info.state == run_state:
            return app.run()
        app.run()
    raise AssertionError(f"the run did not come to {run_state!r}")
