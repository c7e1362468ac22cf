"""Server-sent events: run events onto the wire and off it again."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterable

from fastapi.sse import ServerSentEvent

from agents.events import EVENT_ADAPTER, ClaimsChecked, RunEvent


def to_sse(event: RunEvent) -> ServerSentEvent:
    """The event as it goes out: its number as id, so that a browser re-attaches by itself.

    The records of proof and prompt stay in the log: they hold every passage again, for a receipt and the next turn.
    """
    kept = {"record", "prompt"} if isinstance(event, ClaimsChecked) else None
    return ServerSentEvent(id=str(event.seq), event=event.type, raw_data=event.model_dump_json(exclude=kept))


async def parse_run_events(chunks: AsyncIterable[bytes]) -> AsyncGenerator[RunEvent]:
    """Run events from the bytes of a response, comments skipped; a cut-off event at the end is dropped.

    Lines end with a line feed alone: JSON text may hold other characters that count as line ends in Python.
    """
    rest = b""
    async for chunk in chunks:
        *blocks, rest = (rest + chunk).split(b"\n\n")
        for block in blocks:
            if data := b"\n".join(line[5:].strip() for line in block.split(b"\n") if line.startswith(b"data:")):
                yield EVENT_ADAPTER.validate_json(data)
