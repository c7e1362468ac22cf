from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ingestion.loaders.normalise import normalise


def test_text_has_one_form_and_nothing_invisible() -> None:
    assert normalise("Be\u00adreit\r\nof\ufb01ce\u00a0e\u0301 \u200bx\0\r") == "Bereit\noffice é x\n"


def test_arabic_glyph_forms_become_letters() -> None:
    assert normalise("\ufefb\ufeb4") == "\u0644\u0627\u0633"


@given(st.text())
def test_normalised_text_stays_as_it_is(text: str) -> None:
    once = normalise(text)

    assert normalise(once) == once
    assert "\0" not in once
    once.encode()
