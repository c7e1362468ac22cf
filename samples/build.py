"""Builds the PDF and DOCX files of the sample handbook from the Markdown in ``samples/sources``.

Same sources and same library versions give the same bytes: no clock, no random ids. Run from the repository root with
``python samples/build.py``; needs the development dependencies.
"""

from __future__ import annotations

import argparse
import io
import zipfile
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Literal, cast

from docx import Document
from docx.enum.style import WD_STYLE_TYPE
from docx.shared import Pt
from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode
from reportlab.lib.colors import HexColor
from reportlab.lib.enums import TA_LEFT
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import ParagraphStyle
from reportlab.lib.units import mm
from reportlab.platypus import Flowable, Paragraph, Preformatted, SimpleDocTemplate, Spacer, Table

if TYPE_CHECKING:
    from docx.styles.style import ParagraphStyle as ParagraphStyleOfWord
    from reportlab.pdfgen.canvas import Canvas

SAMPLES = Path(__file__).resolve().parent
TARGETS = {
    "node-pressure-eviction": "resources/node-pressure-eviction.pdf",
    "capacity-plan-2026": "planning/capacity-plan-2026.pdf",
    "2026-08-bad-rollout": "post-mortems/2026-08-bad-rollout.pdf",
    "access-policy": "security/access-policy.pdf",
    "secrets-rotation": "security/secrets-rotation.docx",
    "backup-and-restore": "data/backup-and-restore.docx",
    "cost-note-2026-q3": "planning/cost-note-2026-q3.docx",
    "cluster-upgrade": "runbooks/cluster-upgrade.docx",
}
BULLET = "•"
FIXED_TIME = datetime(2026, 11, 1, 9, tzinfo=UTC)
ZIP_TIME = (2026, 11, 1, 9, 0, 0)


@dataclass(frozen=True, slots=True)
class Part:
    """A heading, paragraph, list item, code block or table of a source."""

    kind: Literal["heading", "paragraph", "item", "code", "table"]
    text: str = ""
    level: int = 0
    marker: str = ""
    rows: tuple[tuple[str, ...], ...] = ()


def main() -> None:
    """Write every target, below ``--out`` when given."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--out", type=Path, default=SAMPLES / "handbook")
    build(parser.parse_args().out)


def build(folder: Path) -> list[Path]:
    """Write all PDF and DOCX files below ``folder`` and return their paths in order."""
    paths: list[Path] = []
    for source, target in TARGETS.items():
        parts = read_parts((SAMPLES / "sources" / f"{source}.md").read_text(encoding="utf-8"))
        path = folder / target
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(to_pdf(parts) if path.suffix == ".pdf" else to_docx(parts))
        paths.append(path)
    return paths


def read_parts(markdown: str) -> list[Part]:
    """The parts of a source in order; list items are numbered as in the text."""
    tree = SyntaxTreeNode(MarkdownIt("commonmark").enable("table").parse(markdown))
    return [part for node in tree.children for part in _parts(node)]


def _parts(node: SyntaxTreeNode) -> list[Part]:
    match node.type:
        case "heading":
            return [Part("heading", _plain(node), level=int(node.tag[1]))]
        case "fence":
            return [Part("code", node.content.rstrip("\n"))]
        case "bullet_list":
            return [Part("item", _plain(item), marker=BULLET) for item in node.children]
        case "ordered_list":
            return [Part("item", _plain(item), marker=f"{item.info}.") for item in node.children]
        case "table":
            return [Part("table", rows=tuple(_row(row) for section in node.children for row in section.children))]
        case _:
            return [Part("paragraph", _plain(node))]


def _row(node: SyntaxTreeNode) -> tuple[str, ...]:
    return tuple(_plain(cell) for cell in node.children)


def _plain(node: SyntaxTreeNode) -> str:
    if node.type in ("text", "code_inline"):
        return node.content
    return " " if node.type == "softbreak" else "".join(_plain(child) for child in node.children)


def to_pdf(parts: list[Part]) -> bytes:
    """A4 pages with an outline of the headings, tables whose first row repeats, and page numbers."""
    body = ParagraphStyle("body", fontName="Helvetica", fontSize=10, leading=14, spaceAfter=6, alignment=TA_LEFT)
    item = ParagraphStyle("item", parent=body, leftIndent=16, bulletIndent=2, spaceAfter=3)
    cell = ParagraphStyle("cell", parent=body, fontSize=8.5, leading=11, spaceAfter=0)
    code = ParagraphStyle(
        "code", fontName="Courier", fontSize=8, leading=10.5, spaceBefore=2, spaceAfter=8, leftIndent=8
    )
    sizes = {1: 18, 2: 13, 3: 11}
    story: list[Flowable] = []
    for part in parts:
        match part.kind:
            case "heading":
                size = sizes[part.level]
                style = ParagraphStyle(
                    f"h{part.level}",
                    fontName="Helvetica-Bold",
                    fontSize=size,
                    leading=size * 1.3,
                    spaceBefore=10,
                    spaceAfter=5,
                    keepWithNext=True,
                )
                story.append(_Heading(_escape(part.text), style, part.level))
            case "paragraph":
                story.append(Paragraph(_escape(part.text), body))
            case "item":
                story.append(Paragraph(_escape(part.text), item, bulletText=part.marker))
            case "code":
                story.append(Preformatted(part.text, code, maxLineLength=100))
            case "table":
                story.append(_pdf_table(part, cell))
                story.append(Spacer(1, 8))
    buffer = io.BytesIO()
    template = SimpleDocTemplate(
        buffer,
        pagesize=A4,
        title=parts[0].text,
        author="Halvorn Parcels",
        invariant=1,
        leftMargin=20 * mm,
        rightMargin=20 * mm,
        topMargin=18 * mm,
        bottomMargin=20 * mm,
    )
    template.build(story, onFirstPage=_footer, onLaterPages=_footer)
    return buffer.getvalue()


class _Heading(Paragraph):
    """A heading that enters the outline of the PDF."""

    def __init__(self, text: str, style: ParagraphStyle, level: int) -> None:
        super().__init__(text, style)
        self._outline_level = level - 1

    def draw(self) -> None:
        title = self.getPlainText()
        self.canv.bookmarkPage(title)
        self.canv.addOutlineEntry(title, title, self._outline_level, closed=False)
        super().draw()


def _pdf_table(part: Part, style: ParagraphStyle) -> Table:
    head = ParagraphStyle("head", parent=style, fontName="Helvetica-Bold")
    rows = [
        [Paragraph(_escape(text), head if number == 0 else style) for text in row]
        for number, row in enumerate(part.rows)
    ]
    widths = [max(len(row[column]) for row in part.rows) for column in range(len(part.rows[0]))]
    shares = [min(max(width, 9), 42) for width in widths]
    table = Table(rows, colWidths=[170 * mm * share / sum(shares) for share in shares], repeatRows=1)
    table.setStyle(
        [
            ("GRID", (0, 0), (-1, -1), 0.5, HexColor("#8a8f98")),
            ("BACKGROUND", (0, 0), (-1, 0), HexColor("#e8ebef")),
            ("VALIGN", (0, 0), (-1, -1), "TOP"),
        ]
    )
    return table


def _footer(canvas: Canvas, document: SimpleDocTemplate) -> None:
    canvas.setFont("Helvetica", 8)
    canvas.drawString(20 * mm, 11 * mm, "Halvorn Parcels, internal")
    canvas.drawRightString(190 * mm, 11 * mm, f"Page {document.page}")


def _escape(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def to_docx(parts: list[Part]) -> bytes:
    """A document with heading styles, real lists and tables."""
    document = Document()
    properties = document.core_properties
    properties.title = parts[0].text
    properties.author = properties.last_modified_by = "Halvorn Parcels"
    properties.created = properties.modified = FIXED_TIME
    style = cast("ParagraphStyleOfWord", document.styles.add_style("Code", WD_STYLE_TYPE.PARAGRAPH))
    style.font.name = "Courier New"
    style.font.size = Pt(9)
    for part in parts:
        match part.kind:
            case "heading":
                document.add_heading(part.text, level=part.level)
            case "paragraph":
                document.add_paragraph(part.text)
            case "item":
                # Word numbers the lists of one style through the whole document, so numbers are written out.
                bullet = part.marker == BULLET
                text = part.text if bullet else f"{part.marker} {part.text}"
                document.add_paragraph(text, style="List Bullet" if bullet else "List Paragraph")
            case "code":
                document.add_paragraph(part.text, style="Code")
            case "table":
                table = document.add_table(rows=0, cols=len(part.rows[0]), style="Table Grid")
                for row in part.rows:
                    for target, text in zip(table.add_row().cells, row, strict=True):
                        target.text = text
    buffer = io.BytesIO()
    document.save(buffer)
    return _with_fixed_times(buffer.getvalue())


def _with_fixed_times(data: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as source, zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as target:
        for name in source.namelist():
            entry = zipfile.ZipInfo(name, date_time=ZIP_TIME)
            entry.compress_type = zipfile.ZIP_DEFLATED
            target.writestr(entry, source.read(name))
    return buffer.getvalue()


if __name__ == "__main__":
    main()
