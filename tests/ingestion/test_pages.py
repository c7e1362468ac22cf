from __future__ import annotations

import io
from contextlib import closing

import pypdfium2 as pdfium
import pytest
from PIL import Image
from reportlab.pdfgen.canvas import Canvas

from ingestion.errors import PageUnknown
from ingestion.pages import MAX_WIDTH, page_boxes, render_page


def pdf(*, rotated: int = 0) -> bytes:
    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=(600, 800))
    canvas.drawString(60, 700, "A container that uses more memory than its")
    canvas.drawString(60, 680, "limit is killed by the kernel.")
    canvas.setFont("Helvetica-Bold", 12)
    canvas.drawString(60, 400, "The last state says OOMKilled.")
    canvas.showPage()
    canvas.drawString(60, 700, "Second page.")
    canvas.save()
    with closing(pdfium.PdfDocument(buffer.getvalue())) as document:
        document[1].set_rotation(rotated)
        turned = io.BytesIO()
        document.save(turned)
    return turned.getvalue()


def opened(png: bytes) -> Image.Image:
    return Image.open(io.BytesIO(png))


def test_page_is_drawn_with_the_wanted_width() -> None:
    picture = opened(render_page(pdf(), 1, width=300))

    assert (picture.format, picture.size) == ("PNG", (300, 400))
    assert picture.convert("L").getextrema() != (255, 255)


def test_width_is_bounded_and_rotation_applied() -> None:
    picture = opened(render_page(pdf(rotated=90), 2, width=100_000))

    assert picture.width <= MAX_WIDTH
    assert picture.width > picture.height


def test_text_over_two_lines_has_a_box_for_each() -> None:
    first, second = page_boxes(pdf(), 1, "container that uses more memory\nthan its limit is   killed")

    assert first.left < 0.3
    assert second.left == pytest.approx(0.1, abs=0.01)
    for box, baseline in ((first, 700), (second, 680)):
        assert box.top < 1 - baseline / 800 <= box.bottom + 0.005
        assert box.right > box.left


def test_text_that_began_on_another_page_is_found_by_its_lines() -> None:
    (box,) = page_boxes(pdf(), 1, "Words of the page before.\nThe last state says OOMKilled.")

    assert box.top == pytest.approx(0.5, abs=0.02)


def test_box_lies_where_a_rotated_page_shows_the_text() -> None:
    (box,) = page_boxes(pdf(rotated=90), 2, "Second page.")
    picture = opened(render_page(pdf(rotated=90), 2, width=1000)).convert("L")

    inside = picture.crop(
        (
            int(box.left * picture.width),
            int(box.top * picture.height),
            int(box.right * picture.width),
            int(box.bottom * picture.height),
        )
    )
    assert min(inside.tobytes()) < 100
    picture.paste(255, (int(box.left * 1000) - 3, 0, int(box.right * 1000) + 4, picture.height))
    assert picture.getextrema() == (255, 255)


def test_text_that_is_not_on_the_page_has_no_box() -> None:
    assert page_boxes(pdf(), 1, "Nothing of the kind.") == ()
    assert page_boxes(pdf(), 1, "") == ()


@pytest.mark.parametrize("page", [0, 3, -1])
def test_page_that_does_not_exist_is_unknown(page: int) -> None:
    with pytest.raises(PageUnknown):
        render_page(pdf(), page, width=100)
