from __future__ import annotations

import pytest

from ingestion.errors import LoadFailed
from ingestion.loaders.select import load
from ingestion.loaders.xml_data import load_xml

LAUGHS = """<?xml version="1.0"?><!DOCTYPE lolz [<!ENTITY lol "lol"><!ENTITY lol2 "&lol;&lol;">]><lolz>&lol2;</lolz>"""
FOREIGN = """<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]><r>&x;</r>"""


def test_values_stand_on_lines_that_read_alone() -> None:
    source = '<project><dependency scope="test"><id>junit</id><version>4.13</version></dependency></project>'

    assert load_xml(source, name="pom.xml").text == (
        "dependency.scope: test\ndependency.id: junit\ndependency.version: 4.13"
    )


def test_titles_are_headings_and_running_text_paragraphs() -> None:
    source = (
        "<book><title>Pods</title><section><title>Limits</title><para>A <b>pod</b> has one.</para></section></book>"
    )

    document = load_xml(source, name="a.xml")

    assert document.title == "Pods"
    assert [(block.kind, document.text[block.char_start : block.char_end]) for block in document.blocks] == [
        ("heading", "Pods"),
        ("heading", "Limits"),
        ("paragraph", "A pod has one."),
    ]
    assert document.blocks[-1].heading_path == ("Pods", "Limits")


BEHIND_ANOTHER = """<!DOCTYPE r [<!ELEMENT r (#PCDATA)><!ENTITY x "y">]><r>&x;</r>"""


@pytest.mark.parametrize("source", [LAUGHS, FOREIGN, BEHIND_ANOTHER])
def test_declared_entities_are_refused(source: str) -> None:
    with pytest.raises(LoadFailed) as raised:
        load_xml(source, name="a.xml")
    assert raised.value.reason == "unsafe_archive"


def test_declared_entities_are_refused_in_wide_encodings() -> None:
    with pytest.raises(LoadFailed) as raised:
        load(LAUGHS.encode("utf-16"), name="a.xml")
    assert raised.value.reason == "unsafe_archive"


def test_markup_within_text_is_read_as_words() -> None:
    source = "<rss><item><description>&lt;p&gt;One&lt;/p&gt;&lt;p&gt;two&lt;/p&gt;</description></item></rss>"

    assert load_xml(source, name="a.rss").text == "item.description: One two"


def test_damaged_text_gives_what_can_be_saved() -> None:
    document = load_xml("<a><b>one</b><b>two & three</b>", name="a.xml")

    assert "b: one" in document.text
    assert document.metadata == {"partial": True}


def test_what_cannot_be_saved_is_corrupt() -> None:
    with pytest.raises(LoadFailed) as raised:
        load_xml("<<<", name="a.xml")
    assert raised.value.reason == "corrupt"


def test_declared_encoding_is_used() -> None:
    data = '<?xml version="1.0" encoding="iso-8859-2"?><a><b>Łódź i Gdańsk</b></a>'.encode("iso-8859-2")

    document = load(data, name="a.txt").document

    assert document is not None
    assert document.text == "b: Łódź i Gdańsk"
