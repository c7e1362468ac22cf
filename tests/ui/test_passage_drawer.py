from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from agents.answer import Citation
from ui.passage_drawer import CONTEXT_CHARACTERS, cut_out


def _citation(text: str, start: int, end: int) -> Citation:
    return Citation(
        number=1, document_id="d", chunk_id="c", source="/x.md", title="X", quote=text[start:end], char_start=start,
        char_end=end,
    )  # fmt: skip


@given(st.text(alphabet="ab \n", max_size=4000), st.data())
def test_marked_span_is_the_quote_wherever_it_stands(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, min(len(text), start + 200)))

    passage = cut_out(text, _citation(text, start, end))

    assert passage.text[passage.start : passage.end] == text[start:end]
    assert len(passage.text) <= end - start + 2 * (CONTEXT_CHARACTERS + 2)


def test_surroundings_begin_and_end_with_a_paragraph() -> None:
    text = "\n\n".join(f"{n} " + "word " * 60 for n in range(20))
    start = text.index("10 word")

    passage = cut_out(text, _citation(text, start, start + 7))

    assert passage.text.startswith("… 8 word")
    assert passage.text.endswith("word  …")
