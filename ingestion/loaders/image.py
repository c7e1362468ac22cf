"""Pictures: their text by recognition, upright as their camera says; a TIFF has a page for each of its pictures."""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING, cast

from ingestion.errors import LoadFailed
from ingestion.loaders import ocr
from ingestion.loaders.assembly import DocumentAssembly, title_from_name
from ingestion.loaders.loader import Certainty, Loader, LoadOptions, Sample
from ingestion.types import ParsedDocument

if TYPE_CHECKING:
    from PIL.Image import Image

_MEDIA_TYPES = {
    "PNG": "image/png",
    "JPEG": "image/jpeg",
    "MPO": "image/jpeg",
    "TIFF": "image/tiff",
    "WEBP": "image/webp",
    "BMP": "image/bmp",
    "GIF": "image/gif",
}
_SIGNATURES = (b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"II*\0", b"MM\0*", b"GIF87a", b"GIF89a")
_MAX_PAGES = 2000
_SCREEN_PIXELS = 2_500_000
"""Pictures with fewer are taken for screenshots, whose letters are half as high as tesseract reads best."""
_SCREEN_ENLARGEMENT = 2
_MAX_DPI = 2400


def load_image(data: bytes, name: str, options: LoadOptions) -> ParsedDocument:
    """The text of a picture.

    Raises:
        LoadFailed: ``no_text_layer`` when pictures are not to be read or cannot be, ``empty`` for a picture without
            text, ``too_large`` for one of too many pixels, ``corrupt``.
    """
    if options.ocr == "never":
        raise LoadFailed("no_text_layer", "The file is a picture; allow OCR (ingestion.ocr) to read it.")
    assembly = DocumentAssembly()
    texts = 0
    try:
        ocr.require(options.ocr_languages)
        with _open(data) as picture:
            media_type = _MEDIA_TYPES[picture.format or ""]
            count = min(_page_count(picture), _MAX_PAGES)
            for number, page in enumerate(_pages(picture, count), 1):
                for text in ocr.read(page, languages=options.ocr_languages, dpi=_dpi(page)).paragraphs:
                    assembly.add("paragraph", text, page=number if count > 1 else None)
                    texts += 1
    except ocr.OcrUnavailable as error:
        raise LoadFailed("no_text_layer", f"The file is a picture. {error}") from error
    except ocr.OcrFailed as error:
        raise LoadFailed("timeout" if "longer" in str(error) else "corrupt", str(error)) from error
    if not texts:
        raise LoadFailed("empty", "No text was found in the picture.")
    page_count = count if count > 1 else None
    return assembly.finish(
        title=title_from_name(name), media_type=media_type, page_count=page_count, metadata={"ocr": True}
    )


def _open(data: bytes) -> Image:
    from PIL import Image, UnidentifiedImageError

    try:
        with warnings.catch_warnings():
            # Pillow warns from 89 million pixels on and refuses from 179 million on; the refusal is enough.
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)
            return Image.open(io.BytesIO(data), formats=[name for name in _MEDIA_TYPES if name != "MPO"])
    except Image.DecompressionBombError as error:
        raise LoadFailed("too_large", "The picture has too many pixels; make it smaller.") from error
    except (UnidentifiedImageError, OSError, ValueError, SyntaxError) as error:
        raise LoadFailed("corrupt", "The picture is damaged and cannot be read.") from error


def _page_count(picture: Image) -> int:
    """Pictures of a TIFF; of all else the first alone counts, as the others are moments of an animation."""
    return int(getattr(picture, "n_frames", 1)) if picture.format == "TIFF" else 1


def _pages(picture: Image, count: int) -> Iterator[Image]:
    from PIL import Image, ImageOps

    for index in range(count):
        try:
            picture.seek(index)
            upright = ImageOps.exif_transpose(picture)
            if upright.mode.startswith("I") or upright.mode == "F":
                upright = ImageOps.autocontrast(_as_bytes(upright))
            upright.load()
        except Image.DecompressionBombError as error:
            raise LoadFailed("too_large", "The picture has too many pixels; make it smaller.") from error
        except (OSError, EOFError, ValueError, SyntaxError) as error:
            raise LoadFailed("corrupt", "The picture is damaged or cut off and cannot be read.") from error
        if upright.width * upright.height < _SCREEN_PIXELS:
            size = (upright.width * _SCREEN_ENLARGEMENT, upright.height * _SCREEN_ENLARGEMENT)
            enlarged = upright.resize(size, Image.Resampling.LANCZOS)
            enlarged.info = {key: value for key, value in upright.info.items() if key != "dpi"}
            upright = enlarged
        yield upright


def _as_bytes(picture: Image) -> Image:
    """A picture of 16 or 32 bits a point as one of 8."""
    low, high = cast("tuple[float, float]", picture.convert("F").getextrema())
    span = (high - low) or 1.0
    return picture.convert("F").point(lambda value: value * (255 / span) - low * 255 / span).convert("L")


def _dpi(picture: Image) -> int:
    """Resolution that the file states, if it can be true; else 0."""
    stated = picture.info.get("dpi")
    across = float(cast("tuple[float, float]", stated)[0]) if isinstance(stated, tuple) else 0.0
    return round(across) if 70 <= across <= _MAX_DPI else 0


def _certainty(sample: Sample) -> Certainty:
    head = sample.head
    if head.startswith(_SIGNATURES) or (head.startswith(b"RIFF") and head[8:12] == b"WEBP"):
        return 3
    # Two letters begin a bitmap, so its stated size and reserved zeros must be right as well.
    return 3 if head.startswith(b"BM") and head[6:10] == b"\0\0\0\0" and len(sample.data) >= 26 else 0


LOADER = Loader(
    "Pictures",
    frozenset((".png", ".jpg", ".jpeg", ".tif", ".tiff", ".webp", ".bmp", ".gif")),
    _certainty,
    load_image,
)
