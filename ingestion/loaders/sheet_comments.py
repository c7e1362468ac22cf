"""Comments on the cells of an Open XML workbook, by the name of their sheet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ingestion.loaders.normalise import collapse
from ingestion.loaders.office_package import Element, OfficePackage, whole_number

_S = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_T = "{http://schemas.microsoft.com/office/spreadsheetml/2018/threadedcomments}"
_ID = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"


def comments_by_sheet(package: OfficePackage) -> Mapping[str, Sequence[str]]:
    """Labelled comments of each sheet that has some, in the order of the file; a thread replaces its stand-in."""
    main = package.main_part("xl/workbook.xml")
    workbook = package.xml(main) if main.endswith(".xml") else None
    if workbook is None:
        return {}
    parts = package.relationships(main)
    people = _people(package, [link.target for link in parts.values() if link.kind == "person"])
    found: dict[str, Sequence[str]] = {}
    for sheet in workbook.iter(_S + "sheet"):
        link = parts.get(sheet.get(_ID) or "")
        if link is None:
            continue
        links = package.relationships(link.target).values()
        threads = [link.target for link in links if link.kind == "threadedComment"]
        notes = [link.target for link in links if link.kind == "comments"]
        comments = [text for part in threads for text in _threaded(package.xml(part), people)]
        comments = comments or [text for part in notes for text in _notes(package.xml(part))]
        if comments:
            found[sheet.get("name") or ""] = comments
    return found


def _people(package: OfficePackage, parts: Sequence[str]) -> dict[str, str]:
    roots = [root for part in parts if (root := package.xml(part)) is not None]
    return {
        person.get("id") or "": person.get("displayName") or "" for root in roots for person in root.iter(_T + "person")
    }


def _threaded(root: Element | None, people: Mapping[str, str]) -> list[str]:
    if root is None:
        return []
    return [
        _label(comment.get("ref"), people.get(comment.get("personId") or "", ""), comment.findtext(_T + "text") or "")
        for comment in root.iter(_T + "threadedComment")
    ]


def _notes(root: Element | None) -> list[str]:
    if root is None:
        return []
    authors = [author.text or "" for author in root.iter(_S + "author")]
    found: list[str] = []
    for comment in root.iter(_S + "comment"):
        number = whole_number(comment.get("authorId"))
        author = authors[number] if number < len(authors) else ""
        text = collapse("".join(part.text or "" for part in comment.iter(_S + "t")))
        if text:
            found.append(_label(comment.get("ref"), author, text.removeprefix(f"{author}:").strip()))
    return found


def _label(cell: str | None, author: str, text: str) -> str:
    return f"Comment on {cell or 'a cell'} by {collapse(author) or 'unknown'}: {collapse(text)}"
