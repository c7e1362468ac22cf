"""Files of pictures from anybody: what is kept of them, and what is refused in one sentence."""

from __future__ import annotations

from contextlib import suppress
from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from app.errors import AttachmentRefused
from app.picture_making import SMALLEST_SIDE, MadePicture, is_picture, make_picture
from app.settings import AttachmentSettings
from tests.pictures import ERROR, blank, bomb, drawn, opened, saved

LIMITS = AttachmentSettings(max_bytes=200_000, max_picture_points=1_000_000, picture_side=640)
PNG = saved(drawn(ERROR))


def make(data: bytes) -> MadePicture:
    return make_picture(data, name="shot.png", settings=LIMITS)


@pytest.mark.parametrize(
    ("kind", "kept"), [("PNG", "image/png"), ("GIF", "image/png"), ("JPEG", "image/jpeg"), ("WEBP", "image/jpeg")]
)
def test_kinds_are_told_by_content_and_kept_as_png_or_jpeg(kind: str, kept: str) -> None:
    data = saved(drawn(ERROR, size=(400, 200)), kind)
    made = make(data)

    assert is_picture(data)
    assert (made.media_type, made.width, made.height) == (kept, 400, 200)
    assert opened(made.data).size == (400, 200)
    assert made.sha256 == sha256(made.data).hexdigest()


def test_large_picture_is_made_smaller_and_keeps_its_shape() -> None:
    made = make(saved(drawn(ERROR, size=(1000, 250))))
    assert (made.width, made.height) == (640, 160)


def test_tiny_picture_is_put_on_white_so_that_a_model_takes_it() -> None:
    made = make(saved(Image.new("RGB", (3, 1), "black")))
    assert (made.width, made.height) == (SMALLEST_SIDE, SMALLEST_SIDE)
    assert opened(made.data).getpixel((2, 0)) == (0, 0, 0)
    assert opened(made.data).getpixel((9, 9)) == (255, 255, 255)


def test_orientation_of_the_camera_is_applied_and_metadata_is_gone() -> None:
    exif = Image.Exif()
    exif[0x0112] = 6  # to be turned to the right
    exif[0x010F] = "SecretCam"
    exif.get_ifd(0x8825)[2] = (52.0, 31.0, 12.0)
    picture = Image.new("RGB", (300, 100), "white")
    picture.paste((255, 0, 0), (0, 0, 30, 30))
    made = make(saved(picture, "JPEG", exif=exif, comment=b"secret words", quality=95))

    kept = opened(made.data)
    assert kept.size == (100, 300)
    red = kept.convert("RGB").getpixel((90, 5))
    assert isinstance(red, tuple)
    assert red[0] > 200
    assert red[1] < 60
    assert not kept.getexif()
    assert "comment" not in kept.info
    assert b"Secret" not in made.data
    assert b"secret" not in made.data


def test_transparent_picture_stands_on_white() -> None:
    clear = Image.new("RGBA", (60, 60), (0, 0, 0, 0))
    assert opened(make(saved(clear)).data).getpixel((30, 30)) == (255, 255, 255)


def test_first_moment_of_an_animation_is_kept() -> None:
    frames = [Image.new("RGB", (50, 50), colour) for colour in ("red", "blue")]
    data = saved(frames[0], "GIF", save_all=True, append_images=frames[1:])
    assert opened(make(data).data).getpixel((25, 25)) == (255, 0, 0)


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "CMYK", "I;16"])
def test_every_mode_becomes_colours(mode: str) -> None:
    picture = Image.new("I;16", (40, 40), 900) if mode == "I;16" else drawn("x", size=(40, 40)).convert(mode)
    assert opened(make(saved(picture, "JPEG" if mode == "CMYK" else "PNG")).data).mode == "RGB"


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (bomb(60_000, 60_000), "points"),
        (bomb(1200, 1200), r"has 1,440,000 points, more than 1,000,000 \(\[attachments\] max_picture_points\)"),
        (blank() + b"\0" * 300_000, r"bytes, more than 200,000 \(\[attachments\] max_bytes\)"),
        (PNG[: len(PNG) // 2], "damaged or cut off"),
        (bomb(100, 100), "damaged or cut off"),
        (PNG[:8] + b"nothing", "is no PNG, JPEG, WebP or GIF"),
        (b"\xff\xd8\xff\xe0 nothing", "damaged or cut off"),
        (b"RIFF\0\0\0\0WEBPVP8 nothing", "damaged or cut off"),
        (b"GIF89a", "is no PNG, JPEG, WebP or GIF|damaged"),
        (saved(drawn(ERROR, size=(90, 90)), "BMP"), "is no PNG, JPEG, WebP or GIF"),
    ],
)
def test_what_cannot_be_kept_is_refused_in_one_sentence(data: bytes, told: str) -> None:
    with pytest.raises(AttachmentRefused, match=told) as refused:
        make(data)
    assert "shot.png" in str(refused.value)


@pytest.mark.parametrize("data", [b"", b"\x89PN", b"<svg/>", b"RIFF\0\0\0\0WAVE", saved(drawn("x"), "TIFF")])
def test_other_files_are_no_pictures(data: bytes) -> None:
    assert not is_picture(data)


SMALL = [saved(drawn("a", size=(30, 30)), kind) for kind in ("PNG", "JPEG", "WEBP", "GIF")]


@given(st.sampled_from(SMALL), st.lists(st.tuples(st.integers(0, 4000), st.integers(0, 255)), max_size=12), st.data())
def test_no_bytes_break_it(data: bytes, changes: list[tuple[int, int]], cut: st.DataObject) -> None:
    broken = bytearray(data)
    for place, value in changes:
        broken[place % len(broken)] = value
    broken = broken[: cut.draw(st.integers(0, len(broken)))]

    made = None
    with suppress(AttachmentRefused):
        made = make(bytes(broken))

    assert made is None or max(opened(made.data).size) <= 640
