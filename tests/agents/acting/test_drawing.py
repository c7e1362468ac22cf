from __future__ import annotations

from agents.acting.graph import build_acting_graph
from tests.conftest import ROOT


def test_the_drawn_graph_is_the_one_that_runs() -> None:
    drawn = build_acting_graph().get_graph().draw_mermaid()
    _, _, body = drawn.partition("graph TD;")
    page = (ROOT / "docs" / "agents.md").read_text(encoding="utf-8")
    assert f"graph TD;{body}".strip() in page
