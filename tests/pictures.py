"""Pictures that tests draw, and what makes some of them hostile."""

from __future__ import annotations

import io
import struct
import zlib

from PIL import Image, ImageDraw, ImageFont

ERROR = "CrashLoopBackOff exit code 137"


def drawn(*lines: str, size: tuple[int, int] = (900, 220), colour: str = "white") -> Image.Image:
    """Words in black, large enough to be read by tesseract."""
    picture = Image.new("RGB", size, colour)
    pen, font = ImageDraw.Draw(picture), ImageFont.load_default(size=34)
    for number, line in enumerate(lines):
        pen.text((30, 40 + 60 * number), line, fill="black", font=font)
    return picture


def saved(picture: Image.Image, kind: str = "PNG", **options: object) -> bytes:
    """The file."""
    buffer = io.BytesIO()
    picture.save(buffer, kind, **options)
    return buffer.getvalue()


def blank(size: tuple[int, int] = (320, 200), colour: str = "steelblue") -> bytes:
    """A PNG without a word."""
    return saved(Image.new("RGB", size, colour))


def bomb(width: int, height: int) -> bytes:
    """A PNG of a few bytes that says it has so many points."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(b"\0" * 64)) + chunk(b"IEND", b"")


def opened(data: bytes) -> Image.Image:
    """The picture of a file."""
    return Image.open(io.BytesIO(data))
