from __future__ import annotations

import io
import shutil

import pytest
from PIL import Image, ImageDraw, ImageFont

from ingestion.errors import LoadFailed
from ingestion.loaders.image import LOADER, load_image
from ingestion.loaders.loader import LoadOptions, Sample
from ingestion.types import ParsedDocument

needs_tesseract = pytest.mark.skipif(shutil.which("tesseract") is None, reason="tesseract-ocr is not installed")
SAID = "Last termination reason:\nout of memory, exit code 137"


def picture(text: str = SAID) -> Image.Image:
    page = Image.new("L", (1300, 500), 255)
    ImageDraw.Draw(page).multiline_text((100, 100), text, fill=0, font=ImageFont.load_default(52), spacing=30)
    return page


def saved(image: Image.Image, kind: str, **options: object) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, kind, **options)
    return buffer.getvalue()


def load(data: bytes, *, ocr: LoadOptions | None = None) -> ParsedDocument:
    result = load_image(data, "screen.png", ocr or LoadOptions())
    assert isinstance(result, ParsedDocument)
    return result


def reason(data: bytes, options: LoadOptions | None = None) -> str:
    with pytest.raises(LoadFailed) as raised:
        load_image(data, "screen.png", options or LoadOptions())
    return raised.value.reason


def exif(orientation: int) -> Image.Exif:
    tags = Image.Exif()
    tags[0x0112] = orientation
    return tags


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP", "BMP", "GIF", "TIFF"])
def test_picture_of_each_kind_is_told_by_its_bytes(kind: str) -> None:
    assert LOADER.certainty(Sample(saved(picture(), kind), "a.dat")) == 3
    assert LOADER.certainty(Sample(b"BM is a short name", "a.bmp")) == 0


@needs_tesseract
@pytest.mark.parametrize("kind", ["PNG", "WEBP"])
def test_text_of_a_picture_is_read(kind: str) -> None:
    document = load(saved(picture(), kind))

    assert document.text == SAID
    assert document.media_type == f"image/{kind.lower()}"
    assert (document.page_count, document.metadata) == (None, {"ocr": True})


@needs_tesseract
def test_pictures_of_a_tiff_are_pages() -> None:
    second = picture("It was restarted twice\nby the kubelet")
    document = load(saved(picture(), "TIFF", save_all=True, append_images=[second]))

    assert document.page_count == 2
    assert [block.page for block in document.blocks] == [1, 2]
    assert document.text == f"{SAID}\n\nIt was restarted twice\nby the kubelet"


@needs_tesseract
def test_picture_is_turned_upright_as_the_camera_says() -> None:
    assert load(saved(picture().transpose(Image.Transpose.ROTATE_90), "JPEG", exif=exif(6))).text == SAID


@needs_tesseract
@pytest.mark.parametrize(
    "hard",
    [
        picture().rotate(6, expand=True, fillcolor=255),
        picture().rotate(180),
        picture().resize((430, 170), Image.Resampling.LANCZOS),
    ],
    ids=["askew", "on its head", "small"],
)
def test_picture_that_is_hard_to_read_is_read(hard: Image.Image) -> None:
    assert load(saved(hard, "PNG")).text == SAID


@needs_tesseract
def test_dark_letters_on_nothing_are_read_as_on_paper() -> None:
    clear = Image.new("RGBA", picture().size, (0, 0, 0, 0))
    ImageDraw.Draw(clear).multiline_text((100, 100), SAID, fill="black", font=ImageFont.load_default(52), spacing=30)

    assert load(saved(clear, "PNG")).text == SAID


@needs_tesseract
def test_picture_without_text_is_empty() -> None:
    assert reason(saved(Image.effect_noise((600, 400), 60), "PNG")) == "empty"


def test_picture_is_not_read_while_recognition_is_off() -> None:
    assert reason(saved(picture(), "PNG"), LoadOptions(ocr="never")) == "no_text_layer"


@needs_tesseract
def test_cut_off_picture_is_corrupt() -> None:
    assert reason(saved(picture(), "PNG")[:900]) == "corrupt"
    assert reason(b"\x89PNG\r\n\x1a\n") == "corrupt"


@needs_tesseract
def test_picture_that_unpacks_to_more_pixels_than_a_page_can_have_is_too_large() -> None:
    assert reason(saved(Image.new("1", (20_000, 20_000)), "PNG")) == "too_large"
