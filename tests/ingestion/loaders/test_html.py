from __future__ import annotations

import pytest

from ingestion.errors import LoadFailed
from ingestion.loaders.html import load_html
from ingestion.types import ParsedDocument

PAGE = """<!doctype html><html lang="en"><head><title>Site | Page</title><meta name="author" content="Ann"></head>
<body><header><a href="/">Home</a></header><nav>Menu</nav><div class="cookie-banner">We use cookies</div>
<main><h1>Limits</h1><p>A pod has
a <b>limit</b>.<br>Second line.</p>
<ul><li>One<ul><li>Inner</li></ul></li><li>Two</li></ul><ol start="3"><li>Third</li></ol>
<pre class="language-yaml"><code>a: 1
  b: 2</code></pre>
<table><tr><th>Name</th><th>Code</th></tr><tr><td rowspan="2">OOM</td><td>137</td></tr><tr><td>9 | x</td></tr></table>
<blockquote>Said.</blockquote></main><footer>Imprint</footer><script>var x = "no";</script></body></html>"""


def load(page: str) -> ParsedDocument:
    return load_html(page.encode(), name="page.html")


def test_page_becomes_blocks_without_its_frame() -> None:
    document = load(PAGE)

    assert [(block.kind, document.text[block.char_start : block.char_end]) for block in document.blocks] == [
        ("heading", "Limits"),
        ("paragraph", "A pod has a limit.\nSecond line."),
        ("list", "- One\n  - Inner\n- Two"),
        ("list", "3. Third"),
        ("code", "```yaml\na: 1\n  b: 2\n```"),
        ("table", "| Name | Code |\n| --- | --- |\n| OOM | 137 |\n| OOM | 9 \\| x |"),
        ("quote", "Said."),
    ]
    assert document.title == "Limits"
    assert document.metadata == {"author": "Ann", "language": "en"}


def test_page_that_is_all_frame_keeps_its_text() -> None:
    assert load("<body><div class='menu'>Soup of the day and much more to eat</div></body>").text.startswith("Soup")


def test_hidden_parts_are_left_out() -> None:
    document = load("<body><p>Seen</p><p style='display: none'>Unseen</p><p hidden>Unseen</p></body>")

    assert document.text == "Seen"


def test_undeclared_legacy_encoding_is_found() -> None:
    page = "<html><body><p>Die Prüfung der Größe kostet 15,50 € — später mehr.</p></body></html>"

    assert load_html(page.encode("cp1252"), name="a.html").text == "Die Prüfung der Größe kostet 15,50 € — später mehr."


def test_declared_encoding_is_used() -> None:
    page = '<html><head><meta charset="windows-1251"></head><body><p>Привет</p></body></html>'

    assert load_html(page.encode("cp1251"), name="a.html").text == "Привет"


@pytest.mark.timeout(30)
def test_text_under_ten_thousand_elements_is_found() -> None:
    page = "<body>" + "<div>" * 10_000 + "deep" + "</div>" * 10_000 + "<p>after</p></body>"

    assert load(page).text == "deep\n\nafter"


def test_page_without_text_is_empty() -> None:
    with pytest.raises(LoadFailed) as raised:
        load("<html><body><script>1</script></body></html>")

    assert raised.value.reason == "empty"
