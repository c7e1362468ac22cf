"""How far a scanned page lies askew: the turn at which its lines of text stand out most from the gaps between them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from PIL.Image import Image

_WIDEST = 10.0
"""Degrees; scanners and hands keep within it, and wider turns are found by tesseract's own detection of orientation."""
_COARSE, _FINE = 1.0, 0.25
_SIDE = 700
"""Pixels of the picture that is measured: lines of text are still apart, and a turn takes two milliseconds."""
_MIN_GAIN = 1.1
"""A page is turned only where that makes its lines clearly sharper: photographs and drawings stay as they are."""


def skew_degrees(picture: Image) -> float:
    """Degrees by which the picture must be turned, counter-clockwise, for level lines; 0 when it need not."""
    small = picture.convert("L")
    small.thumbnail((_SIDE, _SIDE))
    pixels = np.asarray(small, dtype=np.float32)
    ink = _image(np.where(pixels < pixels.mean() * 0.8, np.uint8(255), np.uint8(0)))
    level = _sharpness(ink, 0.0)
    coarse = max(np.arange(-_WIDEST, _WIDEST + _COARSE, _COARSE), key=lambda angle: _sharpness(ink, float(angle)))
    near = np.arange(coarse - _COARSE, coarse + _COARSE + _FINE, _FINE)
    best = float(max(near, key=lambda angle: _sharpness(ink, float(angle))))
    return best if abs(best) >= 2 * _FINE and _sharpness(ink, best) > level * _MIN_GAIN else 0.0


def _image(pixels: np.ndarray) -> Image:
    from PIL import Image

    return Image.fromarray(pixels)


def _sharpness(ink: Image, angle: float) -> float:
    """Sum of squared steps between neighbouring rows' ink."""
    rows = np.asarray(ink.rotate(angle), dtype=np.float32).sum(axis=1)
    return float(np.square(np.diff(rows)).sum())
