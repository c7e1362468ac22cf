"""``files/runbook.doc`` is ``files/runbook.rtf``, saved by LibreOffice in the format of Word 97."""

from __future__ import annotations

import contextlib
import struct
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingestion.errors import LoadFailed
from ingestion.loaders.doc import LOADER, load_doc
from ingestion.loaders.loader import LoadOptions, Sample
from ingestion.loaders.rtf import load_rtf
from ingestion.loaders.select import load
from tests.ingestion.loaders.office_files import blocks_of, document_of, ole_of, reason_of

FILES = Path(__file__).parent / "files"
RUNBOOK = (FILES / "runbook.doc").read_bytes()
TABLE = """\
| Zone | Code | Meaning |
| --- | --- | --- |
| North | 137 | killed |
| North | all others | all others |"""


def test_old_word_file_has_the_blocks_of_the_text_it_was_made_from() -> None:
    document = document_of(load_doc, RUNBOOK, "runbook.doc")

    assert blocks_of(document) == [
        ("paragraph", "Header: Runbook 3"),
        ("heading", "Restart"),
        ("paragraph", "Drain the node[^1] first: café По."),
        ("paragraph", "[^1]: Within ten minutes."),
        ("paragraph", "Comment by Ben: Sure?"),
        ("heading", "Codes"),
        ("table", TABLE),
        ("paragraph", "See the guide."),
    ]
    assert document.blocks[-1].heading_path == ("Restart", "Codes")
    assert (document.title, document.metadata) == ("Restart runbook", {"author": "Ann"})
    assert document.text == document_of(load_rtf, (FILES / "runbook.rtf").read_bytes(), "runbook.rtf").text


def header(flags: int = 0, version: int = 0x00C1) -> bytes:
    return struct.pack("<HHHHHH", 0xA5EC, version, 0, 0, 0, flags).ljust(2048, b"\0")


def test_encrypted_and_older_files_have_their_reasons() -> None:
    assert reason_of(load_doc, ole_of({"WordDocument": header(flags=0x0100)}), "a.doc") == "encrypted"
    assert reason_of(load_doc, ole_of({"WordDocument": header(version=0x0068)}), "a.doc") == "unsupported_type"
    assert reason_of(load_doc, ole_of({"Other": b""}), "a.doc") == "unsupported_type"
    assert reason_of(load_doc, ole_of({"WordDocument": header()}), "a.doc") == "corrupt"
    assert reason_of(load_doc, RUNBOOK[:6000], "a.doc") == "corrupt"


def test_pieces_that_claim_more_than_they_hold_are_corrupt() -> None:
    pieces = struct.pack("<BIIIHIH", 2, 16, 0, 0x7FFFFFFF, 0, 0, 0)
    document = bytearray(header())
    struct.pack_into("<II", document, 0x1A2, 0, len(pieces))

    assert reason_of(load_doc, ole_of({"WordDocument": bytes(document), "0Table": pieces}), "a.doc") == "corrupt"


def test_old_presentation_is_unsupported() -> None:
    with pytest.raises(LoadFailed) as raised:
        load(ole_of({"PowerPoint Document": b""}), name="a.ppt")

    assert raised.value.reason == "unsupported_type"


def test_old_word_files_are_known_by_their_content() -> None:
    assert LOADER.certainty(Sample(RUNBOOK, "a.xls")) == 3
    assert LOADER.certainty(Sample(b"text", "a.doc")) == 0


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.integers(512, len(RUNBOOK) - 1), st.integers(0, 255)), min_size=1, max_size=8))
def test_damaged_bytes_become_text_or_a_reason(changes: list[tuple[int, int]]) -> None:
    damaged = bytearray(RUNBOOK)
    for place, value in changes:
        damaged[place] = value

    with contextlib.suppress(LoadFailed):
        load_doc(bytes(damaged), "a.doc", LoadOptions())
