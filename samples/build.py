"""Builds the PDF and DOCX files of the sample handbook from the Markdown in ``samples/sources``.

Same sources and same library versions give the same bytes: no clock, no random ids. Run from the repository root with
``python samples/build.py``; needs the development dependencies.
"""

from __future__ import annotations

import argparse
import io
import zipfile
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from docx import Document
from docx.enum.style import WD_STYLE_TYPE
from docx.shared import Pt
from markdown_it import MarkdownIt
from reportlab.lib.colors import HexColor
from reportlab.lib.enums import TA_LEFT
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import ParagraphStyle
from reportlab.lib.units import mm
from reportlab.platypus import Paragraph, Preformatted, SimpleDocTemplate, Spacer, Table

if TYPE_CHECKING:
    from markdown_it.token import Token
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
FIXED_TIME = datetime(2026, 11, 1, 9, 0, 0)
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
    tokens = MarkdownIt("commonmark").enable("table").parse(markdown)
    parts: list[Part] = []
    markers: list[str] = []
    rows: list[tuple[str, ...]] = []
    cells: list[str] = []
    for index, token in enumerate(tokens):
        match token.type:
            case "fence":
                parts.append(Part("code", token.content.rstrip("\n")))
            case "bullet_list_open":
                markers.append("bullet")
            case "ordered_list_open":
                markers.append("number")
            case "bullet_list_close" | "ordered_list_close":
                markers.pop()
            case "table_open":
                rows = []
            case "tr_open":
                cells = []
            case "tr_close":
                rows.append(tuple(cells))
            case "table_close":
                parts.append(Part("table", rows=tuple(rows)))
            case "inline":
                opener = tokens[index - 1]
                if opener.type in ("th_open", "td_open"):
                    cells.append(_plain(token))
                elif opener.type == "heading_open":
                    parts.append(Part("heading", _plain(token), level=int(opener.tag[1])))
                elif markers:
                    parts.append(Part("item", _plain(token), marker=_marker(markers[-1], tokens[:index])))
                else:
                    parts.append(Part("paragraph", _plain(token)))
            case _:
                pass
    return parts


def _marker(kind: str, before: list[Token]) -> str:
    item = next(token for token in reversed(before) if token.type == "list_item_open")
    return f"{item.info}." if kind == "number" else "•"


def _plain(token: Token) -> str:
    children = token.children or []
    return "".join(" " if child.type == "softbreak" else child.content for child in children)


def to_pdf(parts: list[Part]) -> bytes:
    """A4 pages with an outline of the headings, tables whose first row repeats, and page numbers."""
    body = ParagraphStyle("body", fontName="Helvetica", fontSize=10, leading=14, spaceAfter=6, alignment=TA_LEFT)
    item = ParagraphStyle("item", parent=body, leftIndent=16, bulletIndent=2, spaceAfter=3)
    cell = ParagraphStyle("cell", parent=body, fontSize=8.5, leading=11, spaceAfter=0)
    code = ParagraphStyle(
        "code", fontName="Courier", fontSize=8, leading=10.5, spaceBefore=2, spaceAfter=8, leftIndent=8
    )
    sizes = {1: 18, 2: 13, 3: 11}
    story: list[object] = []
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
    style = document.styles.add_style("Code", WD_STYLE_TYPE.PARAGRAPH)
    style.font.name = "Courier New"
    style.font.size = Pt(9)
    for part in parts:
        match part.kind:
            case "heading":
                document.add_heading(part.text, level=part.level)
            case "paragraph":
                document.add_paragraph(part.text)
            case "item":
                document.add_paragraph(part.text, style="List Bullet" if part.marker == "•" else "List Number")
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
