"""Bytes of a picture to what is kept and sent: upright, without metadata, small enough. Knows no database, no thread.

Files come from anybody. The size is read before the points are, one frame is decoded, and what is kept is written anew
from the points alone: whatever else stood in the file, place and camera among it, is gone.
"""

from __future__ import annotations

import io
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Literal, cast

from app.errors import AttachmentRefused
from app.settings import AttachmentSettings

if TYPE_CHECKING:
    from PIL.Image import Image

_FORMATS = ("PNG", "JPEG", "WEBP", "GIF")
_SIGNATURES = (b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"GIF87a", b"GIF89a")
_PHOTOS = frozenset({"JPEG", "MPO", "WEBP"})
"""Formats of photographs, which grow many times when they are kept without loss. MPO is a JPEG of several pictures."""
_JPEG_QUALITY = 90
SMALLEST_SIDE = 28
"""Vision models of the Qwen family refuse a side that is shorter than one of their patches."""

MediaType = Literal["image/png", "image/jpeg"]


@dataclass(frozen=True, slots=True)
class MadePicture:
    """What is kept of a picture.

    Attributes:
        data: A file of that type with one picture and nothing else.
        media_type: PNG without loss, or JPEG for photographs.
        width: Points across, at most ``[attachments] picture_side``.
        height: Points down, the same.
    """

    data: bytes
    media_type: MediaType
    width: int
    height: int

    @property
    def sha256(self) -> str:
        """Hash of the file."""
        return sha256(self.data).hexdigest()


def is_picture(data: bytes) -> bool:
    """Whether a file begins as a PNG, a JPEG, a WebP or a GIF does."""
    return data.startswith(_SIGNATURES) or (data.startswith(b"RIFF") and data[8:12] == b"WEBP")


def make_picture(data: bytes, *, name: str, settings: AttachmentSettings) -> MadePicture:
    """The first picture of a file as it is kept; blocks, so call it off the event loop.

    Args:
        data: The file.
        name: What people call it.
        settings: Limits.

    Raises:
        AttachmentRefused: It is damaged, of another kind, or has too many bytes or points.
    """
    from PIL import Image, UnidentifiedImageError

    if len(data) > settings.max_bytes:
        raise AttachmentRefused(
            f"{name!r} has {len(data):,} bytes, more than {settings.max_bytes:,} ([attachments] max_bytes); make the "
            "picture smaller."
        )
    try:
        with Image.open(io.BytesIO(data), formats=_FORMATS) as opened:
            points = opened.width * opened.height
            if points > settings.max_picture_points:
                raise AttachmentRefused(
                    f"{name!r} has {points:,} points, more than {settings.max_picture_points:,} ([attachments] "
                    "max_picture_points); make the picture smaller."
                )
            photo = opened.format in _PHOTOS
            upright = _upright(opened, side=settings.picture_side)
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise AttachmentRefused(f"{name!r} has too many points; make the picture smaller.") from error
    except UnidentifiedImageError as error:
        raise AttachmentRefused(f"{name!r} is no PNG, JPEG, WebP or GIF that can be read.") from error
    except (OSError, EOFError, ValueError, SyntaxError, OverflowError, MemoryError) as error:
        raise AttachmentRefused(f"{name!r} is damaged or cut off and cannot be read.") from error
    buffer = io.BytesIO()
    if photo:
        upright.save(buffer, "JPEG", quality=_JPEG_QUALITY)
    else:
        upright.save(buffer, "PNG")
    return MadePicture(buffer.getvalue(), "image/jpeg" if photo else "image/png", upright.width, upright.height)


def _upright(opened: Image, *, side: int) -> Image:
    """The first frame as its camera held it, on white, with neither side longer than ``side`` nor too short."""
    from PIL import Image, ImageOps

    opened.seek(0)
    picture = ImageOps.exif_transpose(opened)
    if picture.mode.startswith("I") or picture.mode == "F":
        picture = _as_bytes(picture)
    if picture.mode in ("RGBA", "LA", "PA") or "transparency" in picture.info:
        picture = picture.convert("RGBA")
        picture = Image.alpha_composite(Image.new("RGBA", picture.size, "white"), picture)
    picture = picture.convert("RGB")
    picture.thumbnail((side, side), Image.Resampling.LANCZOS)
    size = max(picture.width, SMALLEST_SIDE), max(picture.height, SMALLEST_SIDE)
    clean = Image.new("RGB", size, "white")
    clean.paste(picture)
    return clean


def _as_bytes(picture: Image) -> Image:
    """A picture of 16 or 32 bits a point as one of 8."""
    points = picture.convert("F")
    low, high = cast("tuple[float, float]", points.getextrema())
    scale = 255 / ((high - low) or 1.0)
    return points.point(lambda value: value * scale - low * scale).convert("L")
