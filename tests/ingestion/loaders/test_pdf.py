from __future__ import annotations

from collections.abc import Sequence

import pytest

from ingestion.errors import LoadFailed
from ingestion.loaders.pdf import load_pdf
from ingestion.types import ParsedDocument

Text = tuple[str, int, int]
"""Text, size of type, and distance from the lower edge, in points."""


def pdf(pages: Sequence[Sequence[Text]], title: str = "") -> bytes:
    """A PDF of one font; enough of the format for PDFium to read it without repair."""
    kids = " ".join(f"{4 + 2 * number} 0 R" for number in range(len(pages)))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for number, page in enumerate(pages):
        stream = "\n".join(f"BT /F1 {size} Tf 72 {y} Td ({text}) Tj ET" for text, size, y in page)
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents {5 + 2 * number} 0 R "
            "/Resources << /Font << /F1 3 0 R >> >> >>"
        )
        objects.append(f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream")
    objects.append(f"<< /Title ({title}) >>")
    body = "%PDF-1.4\n"
    offsets: list[int] = []
    for number, content in enumerate(objects, 1):
        offsets.append(len(body))
        body += f"{number} 0 obj\n{content}\nendobj\n"
    table = "".join(f"{offset:010} 00000 n \n" for offset in offsets)
    trailer = f"<< /Size {len(objects) + 1} /Root 1 0 R /Info {len(objects)} 0 R >>"
    end = f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}trailer\n{trailer}\nstartxref\n{len(body)}\n%%EOF"
    return (body + end).encode("latin-1")


def parts(document: ParsedDocument) -> list[tuple[str, int | None, str]]:
    return [(block.kind, block.page, document.text[block.char_start : block.char_end]) for block in document.blocks]


def reason(data: bytes) -> str:
    with pytest.raises(LoadFailed) as raised:
        load_pdf(data, name="a.pdf")
    return raised.value.reason


BODY = [("A container that uses more memory than its limit", 11, 740), ("is killed by the kernel.", 11, 726)]


def test_pages_headings_and_paragraphs_are_told_apart() -> None:
    document = load_pdf(
        pdf([[("Memory", 20, 780), *BODY, ("It starts again.", 11, 690)], [("Probes", 20, 780), *BODY]]), name="a.pdf"
    )

    killed = "A container that uses more memory than its limit\nis killed by the kernel."
    assert parts(document) == [
        ("heading", 1, "Memory"),
        ("paragraph", 1, killed),
        ("paragraph", 1, "It starts again."),
        ("heading", 2, "Probes"),
        ("paragraph", 2, killed),
    ]
    assert document.blocks[-1].heading_path == ("Probes",)
    assert (document.page_count, document.title) == (2, "Memory")


def test_title_of_the_file_is_used_unless_it_is_a_file_name() -> None:
    assert load_pdf(pdf([BODY], title="Handbook of limits"), name="a.pdf").title == "Handbook of limits"
    assert load_pdf(pdf([BODY], title="draft-7.docx"), name="limits.pdf").title == "limits"


def test_page_numbers_are_left_out_and_running_heads_stand_once() -> None:
    pages = [
        [("Handbook", 9, 800), (f"Page {number} tells something new.", 11, 700), (str(number), 9, 30)]
        for number in range(1, 6)
    ]

    document = load_pdf(pdf(pages), name="a.pdf")

    assert document.text.count("Handbook") == 1
    assert not any(line.isdigit() for line in document.text.splitlines())
    assert document.blocks[-1].page == 5


def test_page_without_text_keeps_its_number() -> None:
    document = load_pdf(pdf([BODY, [], BODY]), name="a.pdf")

    assert [page for _, page, _ in parts(document)] == [1, 3]
    assert document.page_count == 3


def test_pages_without_any_text_have_no_text_layer() -> None:
    assert reason(pdf([[], []])) == "no_text_layer"


def test_file_without_pages_is_empty() -> None:
    assert reason(pdf([])) == "empty"


def test_cut_off_file_is_corrupt() -> None:
    assert reason(pdf([BODY])[:60]) == "corrupt"
