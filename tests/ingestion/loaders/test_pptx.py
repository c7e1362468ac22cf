from __future__ import annotations

from collections.abc import Mapping

from ingestion.loaders.loader import LoadOptions, Sample
from ingestion.loaders.pptx import LOADER, load_pptx
from ingestion.types import ParsedDocument
from tests.ingestion.loaders.office_files import OFFICE_RELATIONS, blocks_of, document_of, reason_of, relations, zip_of

NAMES = (
    'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" '
    'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" '
    'xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart" '
    f'xmlns:r="{OFFICE_RELATIONS}"'
)


def shape(*paragraphs: str, holder: str | None = None) -> str:
    place = "" if holder is None else f'<p:ph type="{holder}"/>'
    lines = "".join(f"<a:p>{text if text.startswith('<') else run(text)}</a:p>" for text in paragraphs)
    return f"<p:sp><p:nvSpPr><p:nvPr>{place}</p:nvPr></p:nvSpPr><p:txBody>{lines}</p:txBody></p:sp>"


def run(text: str) -> str:
    return f"<a:r><a:t>{text}</a:t></a:r>"


def frame(content: str) -> str:
    return f"<p:graphicFrame><a:graphic><a:graphicData>{content}</a:graphicData></a:graphic></p:graphicFrame>"


def presentation(*slides: str, extra: Mapping[str, str | bytes] | None = None) -> bytes:
    """Slides are the shapes of each; one that begins with ``hidden`` is hidden."""
    identifiers = "".join(f'<p:sldId r:id="r{number}"/>' for number, _ in enumerate(slides, start=1))
    parts: dict[str, str | bytes] = {
        "_rels/.rels": relations(("officeDocument", "ppt/presentation.xml")),
        "ppt/presentation.xml": f"<p:presentation {NAMES}><p:sldIdLst>{identifiers}</p:sldIdLst></p:presentation>",
        "ppt/_rels/presentation.xml.rels": relations(
            *[("slide", f"slides/slide{number}.xml") for number, _ in enumerate(slides, start=1)]
        ),
    }
    for number, shapes in enumerate(slides, start=1):
        show = ' show="0"' if shapes.startswith("hidden") else ""
        tree = f"<p:cSld><p:spTree>{shapes.removeprefix('hidden')}</p:spTree></p:cSld>"
        parts[f"ppt/slides/slide{number}.xml"] = f"<p:sld {NAMES}{show}>{tree}</p:sld>"
    return zip_of(parts | dict(extra or {}))


def read(data: bytes) -> ParsedDocument:
    return document_of(load_pptx, data, "a.pptx")


def test_slides_are_pages_with_titles_as_headings() -> None:
    document = read(
        presentation(
            shape("Body first") + shape("Plan", holder="title"),
            "hidden" + shape("Spare", holder="ctrTitle") + shape("7", holder="sldNum"),
            shape("No title here"),
        )
    )

    assert [(block.kind, block.page, block.heading_path) for block in document.blocks] == [
        ("heading", 1, ("Plan",)),
        ("paragraph", 1, ("Plan",)),
        ("heading", 2, ("Spare (hidden slide)",)),
        ("heading", 3, ("Slide 3",)),
        ("paragraph", 3, ("Slide 3",)),
    ]
    assert "7" not in document.text
    assert (document.title, document.page_count) == ("Plan", 3)


def test_bullets_keep_their_levels() -> None:
    body = shape("Restart", f'<a:pPr lvl="1"/>{run("slowly")}', f"{run('Check')}<a:br/>{run('logs')}", holder="body")

    assert blocks_of(read(presentation(body)))[1] == ("list", "- Restart\n  - slowly\n- Check logs")


def test_text_in_groups_is_read_once_in_order() -> None:
    group = f"<p:grpSp>{shape('A')}<p:grpSp>{shape('B')}</p:grpSp></p:grpSp>{shape('C')}"
    twice = (
        '<mc:AlternateContent xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006">'
        f"<mc:Choice>{shape('D')}</mc:Choice><mc:Fallback>{shape('D')}</mc:Fallback></mc:AlternateContent>"
    )

    assert [text for _, text in blocks_of(read(presentation(group + twice)))] == ["Slide 1", "A", "B", "C", "D"]


def test_merged_cells_of_a_table_stand_in_each_place() -> None:
    def cell(text: str, attributes: str = "") -> str:
        return f"<a:tc {attributes}><a:txBody><a:p>{run(text)}</a:p></a:txBody></a:tc>"

    rows = "<a:tr>" + cell("Zone") + cell("Sales", 'gridSpan="2"') + cell("", 'hMerge="1"') + "</a:tr>"
    rows += "<a:tr>" + cell("North", 'rowSpan="2"') + cell("1") + cell("2") + "</a:tr>"
    rows += "<a:tr>" + cell("", 'vMerge="1"') + cell("3") + cell("4") + "</a:tr>"

    document = read(presentation(frame(f"<a:tbl>{rows}</a:tbl>")))

    assert blocks_of(document)[1] == (
        "table",
        "| Zone | Sales | Sales |\n| --- | --- | --- |\n| North | 1 | 2 |\n| North | 3 | 4 |",
    )


def test_notes_and_comments_are_labelled() -> None:
    notes = f"<p:notes {NAMES}><p:cSld><p:spTree>{shape('Say hello.', holder='body')}{shape('3', holder='sldNum')}"
    extra = {
        "ppt/slides/_rels/slide1.xml.rels": relations(
            ("notesSlide", "../notesSlides/notesSlide1.xml"), ("comments", "../comments/comment1.xml")
        ),
        "ppt/notesSlides/notesSlide1.xml": f"{notes}</p:spTree></p:cSld></p:notes>",
        "ppt/comments/comment1.xml": f'<p:cmLst {NAMES}><p:cm authorId="0"><p:text>Shorter?</p:text></p:cm></p:cmLst>',
        "ppt/_rels/presentation.xml.rels": relations(
            ("slide", "slides/slide1.xml"), ("commentAuthors", "commentAuthors.xml")
        ),
        "ppt/commentAuthors.xml": f'<p:cmAuthorLst {NAMES}><p:cmAuthor id="0" name="Ann"/></p:cmAuthorLst>',
    }

    document = read(presentation(shape("Plan", holder="title"), extra=extra))

    assert [text for _, text in blocks_of(document)] == [
        "Plan",
        "Speaker notes: Say hello.",
        "Comment by Ann: Shorter?",
    ]


def test_chart_is_a_title_and_a_table() -> None:
    def points(*values: str) -> str:
        return "".join(f'<c:pt idx="{place}"><c:v>{value}</c:v></c:pt>' for place, value in enumerate(values))

    chart = (
        f"<c:chartSpace {NAMES}><c:chart><c:title><c:tx><c:rich><a:p>{run('Ducks')}</a:p></c:rich></c:tx></c:title>"
        f"<c:plotArea><c:barChart><c:ser><c:tx><c:strRef><c:strCache>{points('2026')}</c:strCache></c:strRef></c:tx>"
        f"<c:cat><c:strRef><c:strCache>{points('Q1', 'Q2')}</c:strCache></c:strRef></c:cat>"
        f"<c:val><c:numRef><c:numCache>{points('10', '20')}</c:numCache></c:numRef></c:val></c:ser></c:barChart>"
        "</c:plotArea></c:chart></c:chartSpace>"
    )
    extra = {
        "ppt/slides/_rels/slide1.xml.rels": relations(("chart", "../charts/chart1.xml")),
        "ppt/charts/chart1.xml": chart,
    }

    document = read(presentation(frame('<c:chart r:id="r1"/>'), extra=extra))

    assert blocks_of(document)[1:] == [
        ("paragraph", "Chart: Ducks"),
        ("table", "|  | 2026 |\n| --- | --- |\n| Q1 | 10 |\n| Q2 | 20 |"),
    ]


def test_embedded_file_is_a_child_and_a_missing_one_is_not() -> None:
    extra = {
        "ppt/slides/_rels/slide1.xml.rels": relations(
            ("package", "../embeddings/data.xlsx"), ("oleObject", "../embeddings/gone.bin")
        ),
        "ppt/embeddings/data.xlsx": b"PK\x03\x04",
    }

    loaded = load_pptx(presentation(shape("A"), extra=extra), "a.pptx", LoadOptions())

    assert [child.name for child in loaded.children] == ["data.xlsx"]


def test_presentation_without_text_is_empty() -> None:
    assert reason_of(load_pptx, presentation(""), "a.pptx") == "empty"


def test_broken_slide_is_corrupt() -> None:
    assert reason_of(load_pptx, presentation("<p:sp>"), "a.pptx") == "corrupt"


def test_presentations_are_known_by_their_content() -> None:
    assert LOADER.certainty(Sample(presentation(shape("A")), "a.docx")) == 3
    assert LOADER.certainty(Sample(zip_of({"word/document.xml": ""}), "a.pptx")) == 0
