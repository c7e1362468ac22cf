"""What a PDF holds beside the text of its pages: values of forms, comments, files that are attached.

Every function here is called with ``pdf_open.PDFIUM`` held.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, cast

import pypdfium2 as pdfium
import pypdfium2.raw as pdfium_c

from ingestion.loaders.loader import ChildFile, LoadOptions
from ingestion.loaders.normalise import collapse, normalise

if TYPE_CHECKING:
    from collections.abc import Generator

_MAX_ANNOTATIONS = 5000
_MAX_TEXT_BYTES = 1024 * 1024
_UNSEEN = pdfium_c.FPDF_ANNOT_FLAG_INVISIBLE | pdfium_c.FPDF_ANNOT_FLAG_HIDDEN | pdfium_c.FPDF_ANNOT_FLAG_NOVIEW
_PASSWORD_FIELD = 1 << 13
"""Flag of text fields whose value is not shown (PDF 32000-1, table 228)."""
_WITHOUT_WORDS = frozenset((pdfium_c.FPDF_ANNOT_LINK, pdfium_c.FPDF_ANNOT_POPUP, pdfium_c.FPDF_ANNOT_FILEATTACHMENT))

_Annotation = object
"""PDFium's handle of an annotation."""
_ReadString = Callable[[object, int], int]
"""Fills a buffer of so many bytes with UTF-16 text, or without one tells how many it would need."""


@dataclass(frozen=True, slots=True)
class PageExtras:
    """What stands on a page beside its text, from top to bottom.

    Attributes:
        fields: Form values, ``name: value``.
        comments: ``Comment by NAME: text``.
        clips: Whether files are attached to the page itself.
    """

    fields: tuple[str, ...] = ()
    comments: tuple[str, ...] = ()
    clips: bool = False


def page_extras(document: pdfium.PdfDocument, page: pdfium.PdfPage) -> PageExtras:
    """Form values and comments of a page; empty fields, passwords and hidden ones are left out."""
    fields: list[tuple[float, float, str]] = []
    comments: list[tuple[float, float, str]] = []
    clips = False
    for annotation in _annotations(page):
        kind = cast("int", pdfium_c.FPDFAnnot_GetSubtype(annotation))
        clips = clips or kind == pdfium_c.FPDF_ANNOT_FILEATTACHMENT
        if cast("int", pdfium_c.FPDFAnnot_GetFlags(annotation)) & _UNSEEN or kind in _WITHOUT_WORDS:
            continue
        if kind == pdfium_c.FPDF_ANNOT_WIDGET:
            fields.append((*_place(annotation), _field(document, annotation)))
        else:
            comments.append((*_place(annotation), _comment(annotation)))
    return PageExtras(_in_order(fields), _in_order(comments), clips)


def attached_files(document: pdfium.PdfDocument, clipped: Sequence[int], options: LoadOptions) -> tuple[ChildFile, ...]:
    """Files of the document's list and of the pages ``clipped`` (indexes), each under a name of its own."""
    files: list[ChildFile] = []
    names: set[str] = set()
    left = options.max_children_bytes
    for attachment in _attachments(document, clipped):
        if len(files) == options.max_children:
            break
        name = _free_name(_name(attachment), names)
        names.add(name)
        size = ctypes.c_ulong()
        pdfium_c.FPDFAttachment_GetFile(attachment.raw, None, 0, size)
        if size.value > left:
            detail = f"The attached files hold more than {options.max_children_bytes} bytes; save this one by itself."
            files.append(ChildFile(name, b"", "too_large", detail))
            continue
        left -= size.value
        try:
            files.append(ChildFile(name, bytes(cast("bytes", attachment.get_data()))))
        except pdfium.PdfiumError:
            files.append(ChildFile(name, b"", "corrupt", "The attached file is damaged and cannot be taken out."))
    return tuple(files)


def _annotations(page: pdfium.PdfPage) -> Iterator[_Annotation]:
    count = cast("int", pdfium_c.FPDFPage_GetAnnotCount(page.raw))
    for index in range(min(count, _MAX_ANNOTATIONS)):
        with _annotation(page, index) as annotation:
            if annotation:
                yield annotation


@contextmanager
def _annotation(page: pdfium.PdfPage, index: int) -> Generator[_Annotation]:
    annotation = cast("_Annotation", pdfium_c.FPDFPage_GetAnnot(page.raw, index))
    try:
        yield annotation
    finally:
        if annotation:
            pdfium_c.FPDFPage_CloseAnnot(annotation)


def _place(annotation: _Annotation) -> tuple[float, float]:
    """Where it stands, such that smaller comes first to a reader."""
    box = pdfium_c.FS_RECTF()
    pdfium_c.FPDFAnnot_GetRect(annotation, box)
    return -round(cast("float", box.top)), cast("float", box.left)


def _in_order(placed: list[tuple[float, float, str]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(text for _, _, text in sorted(placed) if text))


def _field(document: pdfium.PdfDocument, annotation: _Annotation) -> str:
    """``name: value``; empty for a field without a value."""
    if document.formenv is None:
        return ""
    form = cast("object", document.formenv.raw)
    kind = cast("int", pdfium_c.FPDFAnnot_GetFormFieldType(form, annotation))
    flags = cast("int", pdfium_c.FPDFAnnot_GetFormFieldFlags(form, annotation))
    if kind == pdfium_c.FPDF_FORMFIELD_PUSHBUTTON or (
        kind == pdfium_c.FPDF_FORMFIELD_TEXTFIELD and flags & _PASSWORD_FIELD
    ):
        return ""

    def text_of(function: Callable[[object, object, object, int], int]) -> str:
        return _string(lambda buffer, size: function(form, annotation, buffer, size))

    name = text_of(pdfium_c.FPDFAnnot_GetFormFieldAlternateName) or text_of(pdfium_c.FPDFAnnot_GetFormFieldName)
    checked = bool(pdfium_c.FPDFAnnot_IsChecked(form, annotation))
    if kind == pdfium_c.FPDF_FORMFIELD_CHECKBOX:
        value = "yes" if checked else "no"
    elif kind == pdfium_c.FPDF_FORMFIELD_RADIOBUTTON:
        value = text_of(pdfium_c.FPDFAnnot_GetFormFieldExportValue) if checked else ""
    else:
        value = text_of(pdfium_c.FPDFAnnot_GetFormFieldValue)
    return f"{name}: {value}" if name and value else value


def _comment(annotation: _Annotation) -> str:
    def text_of(key: bytes) -> str:
        return _string(lambda buffer, size: pdfium_c.FPDFAnnot_GetStringValue(annotation, key, buffer, size))

    text, author = text_of(b"Contents"), text_of(b"T")
    if not text:
        return ""
    return f"Comment by {author}: {text}" if author else f"Comment: {text}"


def _string(read: _ReadString) -> str:
    size = read(None, 0)
    if not 2 < size <= _MAX_TEXT_BYTES:
        return ""
    buffer = (ctypes.c_ushort * (size // 2 + 1))()
    read(buffer, size)
    return collapse(normalise(bytes(buffer)[: size - 2].decode("utf-16-le", "replace")))


def _attachments(document: pdfium.PdfDocument, clipped: Sequence[int]) -> Iterator[pdfium.PdfAttachment]:
    for index in range(document.count_attachments()):
        try:
            yield document.get_attachment(index)
        except pdfium.PdfiumError:
            continue
    for index in clipped:
        page = document[index]
        for annotation in _annotations(page):
            if pdfium_c.FPDFAnnot_GetSubtype(annotation) == pdfium_c.FPDF_ANNOT_FILEATTACHMENT and (
                raw := pdfium_c.FPDFAnnot_GetFileAttachment(annotation)
            ):
                yield pdfium.PdfAttachment(raw, document)
        page.close()


def _name(attachment: pdfium.PdfAttachment) -> str:
    try:
        return collapse(normalise(attachment.get_name()))
    except pdfium.PdfiumError:
        return ""


def _free_name(name: str, taken: set[str]) -> str:
    """The last part of a name, as files lie flat in a PDF, with a number where another file has it."""
    last = PurePosixPath(name.replace("\\", "/")).name
    plain = last if last not in ("", ".", "..") else "attachment"
    path, number = PurePosixPath(plain), 2
    while plain in taken:
        plain = f"{path.stem}-{number}{path.suffix}"
        number += 1
    return plain
