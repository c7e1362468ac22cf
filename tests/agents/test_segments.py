from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.proof.segments import segment

DOCUMENT = """# Limits

Each limit, e.g. the one of memory, is
checked by the kernel. See version 1.29.
These are the limits:

- memory: 1 GiB. It is hard.
- CPU

| kind | limit |
|------|-------|
| memory | 1 GiB |

```yaml
limits:
  memory: 1Gi
```
"""


def test_parts_of_a_document() -> None:
    parts = [(part.kind, " ".join(DOCUMENT[part.start : part.end].split())) for part in segment(DOCUMENT)]
    assert parts == [
        ("heading", "# Limits"),
        ("sentence", "Each limit, e.g. the one of memory, is checked by the kernel."),
        ("sentence", "See version 1.29."),
        ("sentence", "These are the limits:"),
        ("item", "memory: 1 GiB."),
        ("item", "It is hard."),
        ("item", "CPU"),
        ("row", "| kind | limit |"),
        ("rule", "|------|-------|"),
        ("row", "| memory | 1 GiB |"),
        ("code", "limits:"),
        ("code", "memory: 1Gi"),
    ]


def test_items_know_their_introduction_and_rows_their_header() -> None:
    parts = segment(DOCUMENT)
    texts = [DOCUMENT[part.start : part.end] for part in parts]
    leads = {texts[number]: texts[part.lead] for number, part in enumerate(parts) if part.lead >= 0}
    assert leads["CPU"] == "These are the limits:"
    assert leads["It is hard."] == "memory: 1 GiB."
    assert leads["| memory | 1 GiB |"] == "| kind | limit |"


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("One. Two.", ["One.", "Two."]),
        ("Use `a.b.c`. Then stop.", ["Use `a.b.c`.", "Then stop."]),
        ('He said "no." She left.', ['He said "no."', "She left."]),
        ("It is 1.5 or 2.5 long.", ["It is 1.5 or 2.5 long."]),
        ("Really? Yes! Good…", ["Really?", "Yes!", "Good…"]),
        ("これは文。次の文。", ["これは文。", "次の文。"]),
        ("Write to J. Smith.", ["Write to J. Smith."]),
        ("**Bold.** Next.", ["**Bold.**", "Next."]),
        ("", []),
    ],
)
def test_sentences(text: str, sentences: list[str]) -> None:
    assert [text[part.start : part.end] for part in segment(text)] == sentences


@given(st.text(alphabet="ab .!?\n-|`#:1\t*", max_size=200))
def test_segments_are_in_order_and_hold_text(text: str) -> None:
    place = 0
    for part in segment(text):
        assert place <= part.start < part.end <= len(text)
        assert text[part.start : part.end].strip()
        place = part.end
