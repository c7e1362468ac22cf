"""A document's stages, its text cut into passages, and a page's picture with a place on it, as HTML; all escaped."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Sequence
from datetime import datetime
from html import escape

from app.page_schema import BoxView
from app.schema import ChunkView
from ingestion.types import Stage, StageRecord
from ui.markup import styled
from ui.wording import place, plural, seconds

STAGES: tuple[Stage, ...] = ("found", "parsed", "chunked", "embedded", "written", "verified")


def stages_html(stages: Sequence[StageRecord]) -> str:
    """The way into the store, with how long each stage took and where it ended."""
    known = {record.stage: record for record in stages}
    items = "".join(_stage(stage, known.get(stage)) for stage in STAGES)
    return styled(f'<ol class="gw-stages">{items}</ol>')


def cut_text_html(text: str, chunks: Sequence[ChunkView], start: int, end: int) -> str:
    """A window of the text with the passages that it was cut into, each shaded and numbered where it begins.

    Args:
        text: The whole text.
        chunks: Its passages, in order of their position; they may overlap.
        start: Where the window begins.
        end: Where it ends.
    """
    pieces: list[str] = []
    position = start
    shown = [chunk for chunk in chunks if chunk.char_end > start and chunk.char_start < end]
    for place_in_list, chunk in enumerate(shown):
        begin = max(chunk.char_start, position)
        following = shown[place_in_list + 1].char_start if place_in_list + 1 < len(shown) else end
        finish = min(chunk.char_end, max(following, begin), end)
        pieces.append(_left_out(text[position:begin]))
        shade = "odd" if chunk.position % 2 else "even"
        number = f"<b>{chunk.position + 1}</b>" if chunk.char_start >= start else ""
        pieces.append(f'<span class="{shade}">{number}{escape(text[begin:finish])}</span>')
        position = max(position, finish)
    pieces.append(_left_out(text[position:end]))
    return styled(f'<div class="gw-passage gw-cut">{"".join(pieces)}</div>')


def chunks_html(chunks: Iterable[ChunkView]) -> str:
    """Passages as a list to fold open, with their places and sizes."""
    return styled("".join(_chunk(chunk) for chunk in chunks))


def page_html(picture: bytes, boxes: Iterable[BoxView], *, page: int) -> str:
    """A page's picture with places marked on it."""
    marks = "".join(
        f'<i style="left:{100 * box.left:.2f}%;top:{100 * box.top:.2f}%;width:{100 * (box.right - box.left):.2f}%;'
        f'height:{100 * (box.bottom - box.top):.2f}%"></i>'
        for box in boxes
    )
    source = f"data:image/png;base64,{b64encode(picture).decode('ascii')}"
    return styled(f'<div class="gw-page"><img alt="Page {page}" src="{source}">{marks}</div>')


def _stage(stage: Stage, record: StageRecord | None) -> str:
    if record is None:
        return f'<li class="open">{stage}</li>'
    took = _took(record)
    again = f", attempt {record.attempt}" if record.attempt > 1 else ""
    if record.state == "failed":
        reason = escape((record.reason or "failed").replace("_", " "))
        return f'<li class="failed">{stage}<small>{reason}{again}</small></li>'
    return f'<li class="done">{stage}<small>{took}{again}</small></li>'


def _took(record: StageRecord) -> str:
    begun, ended = datetime.fromisoformat(record.started_at), datetime.fromisoformat(record.finished_at)
    return seconds((ended - begun).total_seconds() * 1000)


def _left_out(text: str) -> str:
    """Text in no passage; white space between passages is not worth a word."""
    return f"<s>{escape(text)}</s>" if text.strip() else escape(text)


def _chunk(chunk: ChunkView) -> str:
    where = place(f"Passage {chunk.position + 1}", chunk.page, chunk.section)
    about = f"{plural(chunk.token_count, 'token')} · characters {chunk.char_start:,} to {chunk.char_end:,}"
    return (
        f"<details><summary><b>{escape(where)}</b><br><small>{about}</small></summary>"
        f'<div class="gw-passage">{escape(chunk.text)}</div></details>'
    )
