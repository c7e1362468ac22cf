from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from uuid import UUID

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from ingestion.chunking import split
from ingestion.loaders.markdown import load_markdown
from ingestion.loaders.normalise import normalise
from ingestion.loaders.text import load_text
from ingestion.settings import IngestionSettings
from ingestion.types import DocumentIdentity, ParsedDocument
from retrieval.types import Chunk, index_text

IDENTITY = DocumentIdentity("3f2f1f4e-51ac-5f5e-9a0e-6f7d4f0b7c11", "default", "/notes/a.md")


def count_words(texts: Sequence[str]) -> list[int]:
    return [len(text.split()) for text in texts]


def count_characters(texts: Sequence[str]) -> list[int]:
    return [len("".join(text.split())) for text in texts]


def chunks_of(document: ParsedDocument, tokens: int = 32, overlap: int = 0) -> list[Chunk]:
    settings = IngestionSettings(chunk_tokens=tokens, overlap_tokens=overlap)
    return split(document, identity=IDENTITY, settings=settings, count_tokens=count_words)


def sentence(word: str, words: int) -> str:
    return " ".join([word.capitalize(), *[word] * (words - 1)]) + "."


LINES = st.sampled_from(
    [
        "# Heading one",
        "## Heading two",
        "A short sentence. And one more!",
        sentence("long", 90),
        "- item one\n- item two\n  more of it",
        "| a | b |\n|---|---|\n" + "\n".join(f"| {row} | value |" for row in range(30)),
        "```python\n" + "\n".join(f"line_{row} = {row}" for row in range(40)) + "\n```",
        "x" * 3000,
        "日本語の文です。" * 60,
        "[ref]: http://example.org/a",
        "---",
        "> quoted text",
        "Straße e\u0301\u00ad\u200b",
        "",
    ]
)


@given(st.lists(LINES, max_size=12), st.integers(32, 120), st.sampled_from([count_words, count_characters]))
def test_chunks_are_exact_slices_within_the_limit_that_cover_all_text(
    lines: list[str], tokens: int, counter: Callable[[Sequence[str]], list[int]]
) -> None:
    document = load_markdown("\n\n".join(["Start.", *lines]), name="a.md")

    chunks = split(document, identity=IDENTITY, settings=IngestionSettings(chunk_tokens=tokens), count_tokens=counter)

    covered = set[int]()
    for chunk in chunks:
        assert chunk.text == document.text[chunk.char_start : chunk.char_end]
        assert chunk.text.strip()
        assert chunk.token_count == counter([chunk.text])[0] <= tokens
        covered.update(range(chunk.char_start, chunk.char_end))
    in_blocks = {place for block in document.blocks for place in range(block.char_start, block.char_end)}
    assert {place for place in in_blocks - covered if not document.text[place].isspace()} == set()
    assert all(before.char_end <= after.char_start for before, after in pairwise(chunks))
    assert [chunk.position for chunk in chunks] == list(range(len(chunks)))
    assert len({chunk.chunk_id for chunk in chunks}) == len(chunks)


@given(st.text(max_size=2000))
def test_any_text_is_covered(text: str) -> None:
    assume(normalise(text).strip())
    document = load_text(text, name="a.txt")

    chunks = split(
        document, identity=IDENTITY, settings=IngestionSettings(chunk_tokens=32), count_tokens=count_characters
    )

    assert "".join("".join(chunk.text.split()) for chunk in chunks) == "".join(document.text.split())


def test_sentences_are_kept_whole_where_they_fit() -> None:
    sentences = [sentence(word, 12) for word in ("alpha", "beta", "gamma", "delta", "omega")]

    chunks = chunks_of(load_text(" ".join(sentences), name="a.txt"))

    assert [chunk.text for chunk in chunks] == [" ".join(sentences[:2]), " ".join(sentences[2:4]), sentences[4]]


def test_heading_stands_at_the_head_of_its_text() -> None:
    document = load_markdown(f"# One\n\n## Two\n\n{sentence('body', 28)} {sentence('tail', 10)}", name="a.md")

    first, *_ = chunks_of(document)

    assert first.text.startswith("# One\n\n## Two\n\nBody")
    assert first.heading_path == ("One", "Two")


def test_small_blocks_of_one_section_share_a_chunk() -> None:
    chunks = chunks_of(load_markdown("# One\n\nFirst.\n\nSecond.\n\n# Two\n\nThird.", name="a.md"))

    assert [chunk.text for chunk in chunks] == ["# One\n\nFirst.\n\nSecond.", "# Two\n\nThird."]


def test_table_is_cut_between_rows() -> None:
    rows = [f"| {number} | some value here |" for number in range(20)]

    chunks = chunks_of(load_markdown("\n".join(["| a | b |", "|---|---|", *rows]), name="a.md"))

    assert len(chunks) > 1
    assert all(line.startswith("| ") or line == "|---|---|" for chunk in chunks for line in chunk.text.splitlines())
    assert [line for chunk in chunks for line in chunk.text.splitlines()][2:] == rows


def test_header_of_a_cut_table_is_the_context_of_its_later_rows() -> None:
    rows = [f"| {number} | some value here |" for number in range(20)]

    first, *later = chunks_of(load_markdown("\n".join(["| code | meaning |", "|---|---|", *rows]), name="a.md"))

    assert first.context == ""
    assert first.text.startswith("| code | meaning |")
    assert later
    assert {chunk.context for chunk in later} == {"| code | meaning |"}
    assert all(index_text(chunk) == f"a\n{chunk.context}\n{chunk.text}" for chunk in later)
    assert all(sum(count_words([chunk.context, chunk.text])) <= 32 for chunk in later)


def test_table_that_fits_needs_no_context_and_stays_whole() -> None:
    table = "| code | meaning |\n|---|---|\n| 137 | killed |"

    chunks = chunks_of(load_markdown(f"{sentence('intro', 28)}\n\n{table}\n\nAfter.", name="a.md"))

    assert [chunk.context for chunk in chunks] == [""] * len(chunks)
    assert any(table in chunk.text for chunk in chunks)


def test_of_a_header_that_would_fill_the_chunk_the_first_columns_are_kept() -> None:
    header = "| " + " | ".join(f"column{number}" for number in range(40)) + " |"
    rows = ["| " + " | ".join("v" for _ in range(10)) + " |" for _ in range(10)]

    *_, last = chunks_of(load_markdown("\n".join([header, "|" + "---|" * 40, *rows]), name="a.md"))

    assert last.context.startswith("| column0 | column1 |")
    assert header.startswith(last.context)
    assert count_words([last.context])[0] <= 16


def test_items_above_a_nested_item_are_its_context() -> None:
    items = ["- restart", *(f"  - reason {number} {sentence('why', 8)}" for number in range(8)), "- other"]

    chunks = chunks_of(load_markdown("\n".join(items), name="a.md"))

    nested = [chunk for chunk in chunks[1:] if chunk.text.startswith("- reason")]
    assert nested
    assert {chunk.context for chunk in nested} == {"- restart"}


def test_code_that_fits_is_not_cut() -> None:
    code = "```yaml\n" + "\n".join(f"key{number}: value" for number in range(12)) + "\n```"

    chunks = chunks_of(load_markdown(f"{sentence('intro', 20)}\n\n{code}\n\n{sentence('after', 20)}", name="a.md"))

    assert code in [chunk.text for chunk in chunks]


def test_overlap_repeats_whole_sentences() -> None:
    sentences = [sentence(word, 10) for word in ("alpha", "beta", "gamma", "delta", "omega", "sigma")]

    chunks = chunks_of(load_text(" ".join(sentences), name="a.txt"), overlap=10)

    assert all(chunk.text.endswith(".") for chunk in chunks)
    assert any(before.char_end > after.char_start for before, after in pairwise(chunks))
    assert all(chunk.token_count <= 32 for chunk in chunks)


def test_ids_depend_on_document_text_and_place_alone() -> None:
    document = load_text("One. Two.", name="a.txt")

    assert chunks_of(document) == chunks_of(document)
    assert UUID(chunks_of(document)[0].chunk_id).version == 5
    other = split(
        document,
        identity=DocumentIdentity("00000000-51ac-5f5e-9a0e-6f7d4f0b7c11", "default", "/b"),
        settings=IngestionSettings(),
        count_tokens=count_words,
    )
    assert other[0].chunk_id != chunks_of(document)[0].chunk_id


@pytest.mark.timeout(20)
def test_line_of_280_kilobytes_without_blanks_is_cut_into_small_chunks() -> None:
    calls: list[int] = []

    def one_unknown_token(texts: Sequence[str]) -> list[int]:
        calls.append(len(texts))
        return [1] * len(texts)

    document = load_text("x" * 280_000, name="a.txt")

    chunks = split(document, identity=IDENTITY, settings=IngestionSettings(), count_tokens=one_unknown_token)

    assert {chunk.context for chunk in chunks} == {""}
    assert "".join(chunk.text for chunk in chunks) == document.text
    assert max(len(chunk.text) for chunk in chunks) <= 220 * 8
    assert len(calls) < 20
