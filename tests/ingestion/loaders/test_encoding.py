from __future__ import annotations

import codecs

import pytest

from ingestion.errors import LoadFailed
from ingestion.loaders.encoding import decode

GERMAN = "Die Prüfung der Größe ergab ein Übermaß, später mehr."


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        (GERMAN, "utf-8"),
        (GERMAN, "utf-8-sig"),
        (GERMAN, "utf-16"),
        (GERMAN, "utf-16-le"),
        (GERMAN, "utf-16-be"),
        (GERMAN, "utf-32"),
        (GERMAN, "utf-32-le"),
        (GERMAN, "utf-32-be"),
        (GERMAN, "cp1252"),
        ("Příliš žluťoučký kůň úpěl ďábelské ódy", "cp1250"),
        ("Съешь же ещё этих мягких французских булок", "cp1251"),
        ("Съешь же ещё этих мягких французских булок", "koi8-r"),
        ("Однажды, в студеную зимнюю пору, я из лесу вышел", "cp866"),
        ("Γειά σου Κόσμε, τι κάνεις σήμερα", "cp1253"),
        ("שלום עולם, מה שלומך היום", "cp1255"),
        ("中文繁體字測試，這是一個句子。", "big5"),
        ("人人生而自由，在尊严和权利上一律平等。", "gb18030"),
        ("日本語のテキストです。", "euc-jp"),
        ("すべての人間は、生まれながらにして自由", "cp932"),
        ("한국어 텍스트입니다. 안녕하세요", "cp949"),
    ],
)
def test_text_comes_back_whatever_its_encoding(text: str, encoding: str) -> None:
    assert decode(text.encode(encoding)).text == text


def test_valid_utf8_wins_over_a_wrong_declaration() -> None:
    assert decode(GERMAN.encode(), declared="iso-8859-1").text == GERMAN


def test_declared_encoding_is_used_where_it_fits() -> None:
    assert decode("Preis: 5 €".encode("cp1252"), declared="ISO-8859-1").text == "Preis: 5 €"


@pytest.mark.parametrize(
    "data",
    [bytes(range(128, 256)) * 3, codecs.BOM_UTF8 + b"\xff\xfe\xfa", b"\x00\x01\x02\x03\xff" * 40],
    ids=["all high bytes", "mark without text", "binary"],
)
def test_bytes_that_are_no_text_are_undecidable(data: bytes) -> None:
    with pytest.raises(LoadFailed) as raised:
        decode(data)

    assert raised.value.reason == "undecodable"
