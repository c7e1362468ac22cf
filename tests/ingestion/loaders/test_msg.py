from __future__ import annotations

import struct

import pytest

from ingestion.errors import LoadFailed
from ingestion.loaders.loader import Loaded, LoadOptions
from ingestion.loaders.msg_rtf import unpack_rtf
from ingestion.loaders.select import load
from tests.ingestion.loaders.ole_builder import Tree, build_ole

SENT = 133_500_000_000_000_000  # 2024-01-17T21:20:00Z in units of 100 ns since 1601
PACKED = bytes.fromhex(
    "2d0000002b0000004c5a4675f1c5c7a703000a007263706731323542320af32068656c090020627705b06c647d0a800fa0"
)
"""The example of [MS-OXRTFCP], section 4.1.1."""


def text(value: str) -> bytes:
    return value.encode("utf-16-le")


def properties(header: int, *entries: tuple[int, int]) -> bytes:
    return bytes(header) + b"".join(struct.pack("<IIQ", tag, 6, value) for tag, value in entries)


def message(header: int = 32, **streams: bytes) -> Tree:
    return {
        "__properties_version1.0": properties(header, (0x00390040, SENT)),
        **{f"__substg1.0_{tag.removeprefix('p')}": value for tag, value in streams.items()},
    }


def read(tree: Tree, options: LoadOptions | None = None) -> Loaded:
    return load(build_ole(tree), name="a.msg", options=options)


def test_headers_body_and_attachments_are_kept() -> None:
    tree = {
        **message(
            p0037001F=text("Störung"),
            p0C1A001F=text("Anna Groß"),
            p5D01001F=text("anna@example.org"),
            p0E04001F=text("Ops; Shift"),
            p1035001F=text("<1@example.org>"),
            p1000001F=text("Die Pumpe P-204 lief trocken.\r\n\r\nGrüße"),
        ),
        "__attach_version1.0_#00000000": {
            "__properties_version1.0": properties(8),
            "__substg1.0_3707001F": text("Bericht März.txt"),
            "__substg1.0_37010102": b"The report".ljust(5000),
        },
    }

    loaded = read(tree)

    assert loaded.document is not None
    assert loaded.document.title == "Störung"
    assert loaded.document.metadata == {
        "from": "Anna Groß <anna@example.org>",
        "to": ["Ops", "Shift"],
        "subject": "Störung",
        "message_id": "<1@example.org>",
        "date": "2024-01-17T21:20:00+00:00",
    }
    assert "Die Pumpe P-204 lief trocken." in loaded.document.text
    assert [(child.name, child.data.strip()) for child in loaded.children] == [("Bericht März.txt", b"The report")]


def test_embedded_mail_is_a_section() -> None:
    inner = message(24, p0037001F=text("Night shift"), p1000001F=text("Alarm A-31 at 04:47."))
    tree = {
        **message(p0037001F=text("Fwd"), p1000001F=text("See below.")),
        "__attach_version1.0_#00000000": {
            "__properties_version1.0": properties(8),
            "__substg1.0_3701000D": inner,
        },
    }

    document = read(tree).document

    assert document is not None
    assert document.blocks[-1].heading_path == ("Fwd", "Night shift")
    assert "Alarm A-31 at 04:47." in document.text


def test_eight_bit_text_is_read_in_the_code_page_of_the_mail() -> None:
    tree = {
        "__properties_version1.0": properties(32, (0x3FFD0003, 1251)),
        "__substg1.0_1000001E": "Насос остановлен".encode("cp1251"),
    }

    document = read(tree).document

    assert document is not None
    assert "Насос остановлен" in document.text


def test_web_body_is_taken_where_there_is_no_plain_one() -> None:
    document = read(message(p10130102=b"<html><body><h2>Head</h2><p>Words</p></body></html>")).document

    assert document is not None
    assert [block.kind for block in document.blocks][-2:] == ["heading", "paragraph"]


def test_body_in_packed_rtf_becomes_a_file() -> None:
    loaded = read(message(p0037001F=text("Subject"), p10090102=PACKED))

    assert [(child.name, child.data) for child in loaded.children] == [("body 1.rtf", unpack_rtf(PACKED))]


def test_rtf_is_unpacked_as_the_specification_shows() -> None:
    assert unpack_rtf(PACKED) == b"{\\rtf1\\ansi\\ansicpg1252\\pard hello world}\r\n"


@pytest.mark.parametrize("length", [100, 600, 3000])
def test_cut_container_is_corrupt(length: int) -> None:
    with pytest.raises(LoadFailed) as raised:
        load(build_ole(message(p1000001F=text("words")))[:length], name="a.msg")
    assert raised.value.reason in ("corrupt", "unsupported_type", "empty")
