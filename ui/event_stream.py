"""Server-sent events out of bytes. Knows nothing of runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator


def read_events(pieces: Iterable[bytes]) -> Iterator[str]:
    """The data of each event, as soon as the event is complete; comments and fields other than data are passed over.

    Lines end at line feeds alone (with or without a carriage return before them), not at every character that
    ``str.splitlines`` knows: the text of a model may hold U+2028, which JSON leaves as it is.
    """
    rest = b""
    data: list[str] = []
    for piece in pieces:
        *lines, rest = (rest + piece).split(b"\n")
        for line in lines:
            text = line.removesuffix(b"\r").decode("utf-8", errors="replace")
            if not text:
                if data:
                    yield "\n".join(data)
                data = []
            elif text == "data" or text.startswith("data:"):
                data.append(text[5:].removeprefix(" "))
