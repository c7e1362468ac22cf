"""Text from pictures through tesseract, a program of the system that runs as a child process with limits.

Knows pictures and the lines in them; knows nothing of files, pages or documents.
"""

from __future__ import annotations

import io
import os
import resource
import shutil
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from ingestion.loaders.deskew import skew_degrees

if TYPE_CHECKING:
    from PIL.Image import Image

PAGE_SECONDS = 60.0
"""Time limit of one picture: a dense A4 page at 300 dpi takes 2 to 6 seconds on one core."""
MAX_PIXELS = 25_000_000
"""Larger pictures are made smaller first: A4 at 300 dpi has 8.7 million pixels, A3 17.4 million."""
_ORIENTATION = "osd"
_MIN_WORD_CONFIDENCE = 30.0
"""Of 100; below it tesseract's words are mostly specks, lines and photographs."""
_MIN_CONFIDENCE = 45.0
"""Of 100, the mean over a picture; below it the picture holds no text that a person would copy out."""
_DOUBTFUL = 75.0
"""Of 100; clean print reads above 90, print on its head below 70."""
_RASTER_SMALLEST = 8
"""A side of fewer pixels holds no text, and tesseract refuses some such pictures."""


class OcrUnavailable(Exception):
    """Tesseract or one of its languages is not installed; the message says how to install it."""


class OcrFailed(Exception):
    """Tesseract ended without a reading: it ran into its time limit, or refused the picture."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What a picture says.

    Attributes:
        paragraphs: Text in reading order, lines separated by line feeds; none when the picture holds no text.
        confidence: Mean of its words, 0 to 100.
    """

    paragraphs: tuple[str, ...]
    confidence: float


@cache
def installed_languages() -> frozenset[str]:
    """Codes of the languages that tesseract has data for; read once in a process.

    Raises:
        OcrUnavailable: The program is missing.
    """
    command = [_program(), "--list-langs"]
    listing = subprocess.run(command, capture_output=True, text=True, timeout=PAGE_SECONDS, check=False)
    return frozenset(listing.stdout.split("\n")[1:])


def require(languages: str) -> None:
    """Check that pictures can be read.

    Args:
        languages: Codes of tesseract joined by ``+``.

    Raises:
        OcrUnavailable: The program or a language is missing.
    """
    missing = [code for code in languages.split("+") if code not in installed_languages()]
    if missing:
        packages = " ".join(f"tesseract-ocr-{code.replace('_', '-')}" for code in missing)
        raise OcrUnavailable(
            f"Tesseract has no data for the language {'+'.join(missing)!r}; install it (apt-get install {packages}) "
            "or change ingestion.ocr_languages."
        )


def read(picture: Image, *, languages: str, dpi: int = 0) -> Reading:
    """The text of a picture; turned and slightly skewed ones are read too.

    Args:
        picture: Any mode.
        languages: Codes of tesseract joined by ``+``.
        dpi: Resolution when it is known; 0 lets tesseract guess.

    Raises:
        OcrUnavailable: The program or a language is missing.
        OcrFailed: The time limit was reached, or the picture cannot be read.
    """
    require(languages)
    if min(picture.size) < _RASTER_SMALLEST:
        return Reading((), 0.0)
    level = _levelled(picture)
    reading = _read(level, languages, dpi)
    if 0 < reading.confidence < _DOUBTFUL:
        # A few words are too little for tesseract to tell that they stand on their head.
        reading = max(reading, _read(level.rotate(180), languages, dpi), key=lambda reading: reading.confidence)
    return reading


def _read(picture: Image, languages: str, dpi: int) -> Reading:
    orientation = "1" if _ORIENTATION in installed_languages() else "3"
    command = [_program(), "stdin", "stdout", "-l", languages, "--psm", orientation]
    if dpi:
        command += ["--dpi", str(dpi)]
    buffer = io.BytesIO()
    picture.save(buffer, "PNG", compress_level=1)
    return _words_to_reading(_run([*command, "tsv"], buffer.getvalue()))


def _program() -> str:
    program = shutil.which("tesseract")
    if program is None:
        raise OcrUnavailable(
            "Tesseract is not installed; install it (apt-get install tesseract-ocr tesseract-ocr-eng) to read pictures."
        )
    return program


def _levelled(picture: Image) -> Image:
    """The picture in grey, bounded in size, its lines level."""
    from PIL import Image

    width, height = picture.size
    if width * height > MAX_PIXELS:
        shrink = (MAX_PIXELS / (width * height)) ** 0.5
        picture = picture.resize((max(1, int(width * shrink)), max(1, int(height * shrink))))
    if picture.mode in ("RGBA", "LA", "PA") or "transparency" in picture.info:
        picture = picture.convert("RGBA")
        picture = Image.alpha_composite(Image.new("RGBA", picture.size, "white"), picture)
    grey = picture.convert("L")
    skew = skew_degrees(grey)
    return grey.rotate(skew, Image.Resampling.BICUBIC, expand=True, fillcolor=255) if skew else grey


def _run(command: list[str], picture: bytes) -> str:
    """Output of the child. Its processor time is limited by the kernel too, should this process be killed first."""
    environment = {**os.environ, "OMP_THREAD_LIMIT": "1"}
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment
    ) as child:
        _limit_processor_time(child.pid)
        try:
            output, complaint = child.communicate(picture, timeout=PAGE_SECONDS)
        except subprocess.TimeoutExpired as error:
            child.kill()
            raise OcrFailed(f"Tesseract took longer than {PAGE_SECONDS:.0f} seconds on one page.") from error
    if child.returncode != 0:
        last = complaint.decode("utf-8", "replace").strip().rpartition("\n")[2]
        raise OcrFailed(f"Tesseract refused the picture ({last or child.returncode}).")
    return output.decode("utf-8", "replace")


def _limit_processor_time(pid: int) -> None:
    limit = int(PAGE_SECONDS)
    try:
        resource.prlimit(pid, resource.RLIMIT_CPU, (limit, limit))
    except (ProcessLookupError, PermissionError, AttributeError):
        # The child has ended already, or the system has no such call: the wait above is limited as well.
        return


def _words_to_reading(table: str) -> Reading:
    """Paragraphs from tesseract's table (``tsv``: level, page, block, paragraph, line, word, box, confidence, text)."""
    paragraphs: dict[tuple[str, str], dict[str, list[str]]] = {}
    confidences: list[float] = []
    for row in table.splitlines()[1:]:
        cells = row.split("\t")
        if len(cells) != 12 or cells[0] != "5" or not cells[11].strip():
            continue
        confidence = float(cells[10])
        if confidence < _MIN_WORD_CONFIDENCE:
            continue
        confidences.append(confidence)
        paragraphs.setdefault((cells[2], cells[3]), {}).setdefault(cells[4], []).append(cells[11].strip())
    mean = sum(confidences) / len(confidences) if confidences else 0.0
    if mean < _MIN_CONFIDENCE:
        return Reading((), mean)
    return Reading(tuple(_worthwhile(paragraphs.values())), mean)


def _worthwhile(paragraphs: Iterable[dict[str, list[str]]]) -> Iterable[str]:
    """Paragraphs with a letter or digit; the others are rules and specks."""
    for lines in paragraphs:
        text = "\n".join(" ".join(words) for words in lines.values())
        if any(character.isalnum() for character in text):
            yield text
