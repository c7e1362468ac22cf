from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingestion.errors import LoadFailed
from ingestion.loaders.markdown import load_markdown
from ingestion.types import ParsedDocument


def parts(document: ParsedDocument) -> list[tuple[str, str]]:
    return [(block.kind, document.text[block.char_start : block.char_end]) for block in document.blocks]


def test_front_matter_becomes_metadata_and_title() -> None:
    source = "---\ntitle: Pods\ntags: [a, b]\nweight: 3\ndate: 2024-01-02\nnested: {x: 1}\n---\n\n# Head\n\nText.\n"

    document = load_markdown(source, name="a.md")

    assert document.title == "Pods"
    assert document.metadata == {"title": "Pods", "tags": ["a", "b"], "weight": 3, "date": "2024-01-02"}
    assert document.text == "# Head\n\nText.\n"


def test_toml_front_matter_is_read() -> None:
    assert load_markdown('+++\ntitle = "Nodes"\n+++\nText.', name="a.md").title == "Nodes"


def test_broken_front_matter_stays_text() -> None:
    assert "title: [" in load_markdown("---\ntitle: [\n---\nText.", name="a.md").text


def test_page_of_front_matter_alone_has_its_title_as_text() -> None:
    document = load_markdown('---\ntitle: "Storage"\ndescription: Ways to keep data.\n---\n', name="_index.md")

    assert document.text.split("\n\n") == ["Storage", "Ways to keep data."]


def test_blocks_know_their_kind_and_headings() -> None:
    source = (
        "# A\n\nText.\n\n## B {#b-id}\n\n- one\n- two\n\n| x | y |\n|---|---|\n| 1 | 2 |\n\n```sh\nls\n```\n\n> said\n"
    )

    document = load_markdown(source, name="a.md")

    assert parts(document) == [
        ("heading", "# A"),
        ("paragraph", "Text."),
        ("heading", "## B {#b-id}"),
        ("list", "- one\n- two"),
        ("table", "| x | y |\n|---|---|\n| 1 | 2 |"),
        ("code", "```sh\nls\n```"),
        ("quote", "> said"),
    ]
    assert document.blocks[3].heading_path == ("A", "B")
    assert document.blocks[5].language == "sh"


def test_heading_after_deeper_ones_closes_them() -> None:
    document = load_markdown("# A\n## B\n### C\n## D\ntext", name="a.md")

    assert document.blocks[-1].heading_path == ("A", "D")


def test_marks_of_the_site_generator_become_words() -> None:
    source = (
        '## {{% heading "whatsnext" %}}\n\nA {{< glossary_tooltip text="Pod" term_id="pod" >}} on a '
        '{{< glossary_tooltip term_id="control-plane" >}}.\n\n{{< note >}}\nBeware.\n{{< /note >}}\n'
        "\n<!-- overview -->\n"
    )

    document = load_markdown(source, name="a.md")

    assert document.text == "## What's next\n\nA Pod on a control plane.\n\nNote:\n\nBeware.\n"
    assert document.blocks[-1].heading_path == ("What's next",)


def test_code_keeps_its_marks() -> None:
    source = "```\n{{< note >}} <!-- kept -->\n```\n"

    assert "{{< note >}} <!-- kept -->" in load_markdown(source, name="a.md").text


def test_highlight_mark_becomes_a_code_block() -> None:
    document = load_markdown('{{< highlight yaml "linenos=false" >}}\na: 1\n\nb: 2\n{{< /highlight >}}', name="a.md")

    assert parts(document) == [("code", "```yaml\na: 1\n\nb: 2\n```")]


@pytest.mark.parametrize("source", ["", "\n \n", "---\n---\n", "<!-- nothing -->"])
def test_source_without_text_is_empty(source: str) -> None:
    with pytest.raises(LoadFailed) as raised:
        load_markdown(source, name="a.md")

    assert raised.value.reason == "empty"


@given(
    st.lists(
        st.sampled_from(
            [
                "# h",
                "text",
                "- a",
                "  - b",
                "```",
                "~~~",
                "|a|b|",
                "|-|-|",
                "[r]: u",
                "---",
                "",
                "> q",
                "<div>",
                "{{< x",
                "\u00ad",
                "1. z",
                "    code",
            ]
        ),
        max_size=14,
    )
)
def test_blocks_are_in_order_and_cover_all_but_rules_and_white_space(lines: list[str]) -> None:
    document = load_markdown("\n".join(["start", *lines]), name="a.md")

    position = 0
    for block in document.blocks:
        assert position <= block.char_start < block.char_end
        assert document.text[position : block.char_start].strip(" \t\n-*_") == ""
        assert document.text[block.char_end - 1].strip()
        position = block.char_end
    assert document.text[position:].strip(" \t\n-*_") == ""
