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
        ("Насос остановлен, давление упало.\n", "utf-32-le"),
        ("Насос остановлен, давление упало.\n", "utf-32-be"),
        ("人人生而自由，在尊严和权利上一律平等。\n", "utf-16-le"),
        ("人人生而自由，在尊严和权利上一律平等。\n", "utf-16-be"),
        ("すべての人間は、生まれながらにして自由である。\n", "utf-16-le"),
        ("ปั๊มถูกปิดเพราะความดันลดลงต่ำกว่าขีดจำกัด\n", "utf-16-le"),
        ("すべての人間は、生まれながらにして自由", "iso2022_jp"),
        ("El niño comió piñas en el jardín, señor.", "cp850"),
        ("Die Prüfung der Größe und der Geräte ergab Übermaß.", "cp850"),
        ("Η αντλία σταμάτησε επειδή η πίεση έπεσε.", "cp737"),
        ("L'élève a payé 5 € pour un cœur à l'école.", "iso-8859-15"),
    ],
)
def test_text_comes_back_whatever_its_encoding(text: str, encoding: str) -> None:
    assert decode(text.encode(encoding)).text == text


def test_what_no_encoding_or_two_fit_is_undecidable() -> None:
    with pytest.raises(LoadFailed) as raised:
        decode("Příliš žluťoučký kůň úpěl ďábelské ódy. Čerpadlo bylo vypnuto.".encode("cp852"))
    assert raised.value.reason == "undecodable"


@pytest.mark.parametrize("declared", ["iso-8859-7", "utf-16", "koi8-r", "no-such-encoding"])
def test_wrong_declaration_does_not_garble(declared: str) -> None:
    assert decode(GERMAN.encode("cp1252"), declared=declared).text == GERMAN


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-16-le", "utf-32"])
def test_text_cut_within_its_last_character_loses_that_alone(encoding: str) -> None:
    assert decode((GERMAN + "ü").encode(encoding)[:-1]).text == GERMAN


def test_rare_damage_in_utf8_is_shown() -> None:
    assert decode(GERMAN.encode() * 20 + b"\xff.").text == GERMAN * 20 + "\N{REPLACEMENT CHARACTER}."


def test_bytes_of_zero_between_words_are_no_other_encoding() -> None:
    text = decode(b"The words of a log\0 with a byte of zero, and padding behind it." + b"\0" * 40).text

    assert text.replace("\0", "") == "The words of a log with a byte of zero, and padding behind it."


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
