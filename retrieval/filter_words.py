"""Places in a question that may state a filter: "in the runbooks collection", "tagged team=sre", "from 2024".

Rules for English, the same each time. They know no store: whether there is such a collection or such a value is asked
by ``retrieval.read_filters``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain, islice
from typing import Literal, NamedTuple, TypeAlias

from retrieval.store.payload import DATE_YEAR, FILE_TYPE
from retrieval.types import SearchFilter

FilterKind: TypeAlias = Literal["collection", "metadata", "year", "file_type", "language"]
"""What a filter speaks of."""

TAG_KEYS = ("tags", "tag", "labels", "label", "keywords", "topics", "topic", "categories", "category")
"""Metadata keys that "tagged" speaks of when it names none."""
AUTHOR_KEYS = ("author", "authors", "creator")
"""Metadata keys that "written by" speaks of."""
FIRST_YEAR, LAST_YEAR = 1970, 2099
MOST_WISHES = 24
"""Places looked at in one question; a pasted log must not cost hundreds of counts."""
_MOST_WORDS = 4
"""Words of the longest name of a collection or an author."""

_ENDINGS = {
    "pdf": ("pdf",),
    "word": ("docx", "doc", "odt", "rtf"),
    "excel": ("xlsx", "xls", "xlsb", "ods"),
    "spreadsheet": ("xlsx", "xls", "xlsb", "ods", "csv"),
    "workbook": ("xlsx", "xls", "xlsb", "ods"),
    "powerpoint": ("pptx", "ppt", "odp"),
    "presentation": ("pptx", "ppt", "odp"),
    "slide": ("pptx", "ppt", "odp"),
    "mail": ("eml", "msg", "mbox"),
    "email": ("eml", "msg", "mbox"),
    "notebook": ("ipynb",),
    "epub": ("epub",),
    "markdown": ("md", "markdown"),
    "html": ("html", "htm", "xhtml"),
    "csv": ("csv", "tsv"),
    "json": ("json", "jsonl"),
    "yaml": ("yaml", "yml"),
    "text": ("txt",),
}
"""Words for files, and the endings they stand for."""
_SUBJECTS = frozenset(("markdown", "html", "csv", "json", "yaml", "text"))
"""Words for files that questions are also about; only a word of search before them makes a filter."""
_ALONE = r"pdfs?|spreadsheets|workbooks|presentations|slides|e?mails|notebooks|epubs"
"""Words for files that need no noun behind them."""
_LANGUAGES = {
    "arabic": "ar",
    "chinese": "zh",
    "czech": "cs",
    "danish": "da",
    "dutch": "nl",
    "english": "en",
    "finnish": "fi",
    "french": "fr",
    "german": "de",
    "greek": "el",
    "hebrew": "he",
    "hindi": "hi",
    "italian": "it",
    "japanese": "ja",
    "korean": "ko",
    "norwegian": "no",
    "polish": "pl",
    "portuguese": "pt",
    "russian": "ru",
    "spanish": "es",
    "swedish": "sv",
    "turkish": "tr",
    "ukrainian": "uk",
}

_WORD = r"\w[\w.@/-]*"
_NAME = rf"(?:\"[^\"\n]{{1,80}}\"|'[^'\n]{{1,80}}'|{_WORD})"
_THE = r"(?:(?:the|our|my|all|all the|any)\s+)?"
_DOCUMENTS = r"(?:documents?|docs?|files?|pages?|messages?|e?mails?|notes?|reports?|posts?|papers?|articles?)"
_SEARCH = r"(?:only|search|searching|search in|look in|looking in|find in|according to)"
_YEAR = r"(?:19|20)[0-9]{2}(?![\w-]|\.\w)"
_WROTE = rf"(?:{_DOCUMENTS}|dated|written|published|created|updated)"

_IN = re.compile(rf"\b(?:only\s+)?(?:in|from|within|inside|using|search|searching|of)\s+{_THE}$", re.IGNORECASE)
_COLLECTION = re.compile(r"\bcollection\b", re.IGNORECASE)
_COLLECTION_NAMED = re.compile(
    rf"\b(?:(?:in|from|within|of|search)\s+)?(?:the\s+)?collection\s*(?:[:=]\s*|\s(?:called|named)\s+|\s)(?P<name>{_NAME})",
    re.IGNORECASE,
)
_TAGGED = re.compile(
    r"\b(?:(?:which|that)\s+are\s+)?(?:tagged|labell?ed|marked|filtered\s+by)\s+(?:(?:with|as|by)\s+)?"
    rf"(?:(?P<key>[\w.-]+)\s*[=:]\s*)?(?P<value>{_NAME})",
    re.IGNORECASE,
)
_WRITTEN_BY = re.compile(r"\b(?:written|authored)\s+by\s+", re.IGNORECASE)
_YEARS = (
    re.compile(rf"\b(?:from|between)\s+(?P<first>{_YEAR})\s+(?:to|until|till|and)\s+(?P<last>{_YEAR})", re.IGNORECASE),
    re.compile(rf"\b{_WROTE}\s+(?:since|as\s+of)\s+(?P<first>{_YEAR})", re.IGNORECASE),
    re.compile(rf"\b{_WROTE}\s+after\s+(?P<after>{_YEAR})", re.IGNORECASE),
    re.compile(rf"\b{_WROTE}\s+before\s+(?P<before>{_YEAR})", re.IGNORECASE),
    re.compile(rf"\b(?:from|dated|{_WROTE}\s+in)\s+(?P<only>{_YEAR})", re.IGNORECASE),
)
_FILES = re.compile(
    rf"\b(?:(?P<search>{_SEARCH})|in|from|within)\s+{_THE}"
    rf"(?:(?P<type>{'|'.join(_ENDINGS)})[\s-]+(?:files?|documents?|docs?|pages?|messages?|sheets?|decks?|books?)"
    rf"|(?P<alone>{_ALONE}))\b(?!-)",
    re.IGNORECASE,
)
_LANGUAGE = re.compile(
    rf"\b(?:(?:in|from|only|search)\s+{_THE}(?P<before>{'|'.join(_LANGUAGES)})(?:-language)?\s+{_DOCUMENTS}"
    rf"|(?:(?:in|from|only|search)\s+)?{_THE}{_DOCUMENTS}\s+in\s+(?P<behind>{'|'.join(_LANGUAGES)}))\b",
    re.IGNORECASE,
)


class Wish(NamedTuple):
    """A place in a question that may state a filter.

    Attributes:
        start: Where it begins in the question.
        end: Behind its last character.
        kind: What it speaks of.
        readings: Names and filters; the first that lets something through is meant.
    """

    start: int
    end: int
    kind: FilterKind
    readings: tuple[tuple[str, SearchFilter], ...]


def wishes(question: str) -> Iterator[Wish]:
    """Places that may state a filter, ``MOST_WISHES`` at most; of the same words the likelier reading comes first."""
    kinds = (_collections, _tags, _authors, _years, _file_types, _languages)
    return islice(chain.from_iterable(find(question) for find in kinds), MOST_WISHES)


def _collections(question: str) -> Iterator[Wish]:
    for match in _COLLECTION.finditer(question):
        before = question[: match.start()].rstrip()
        for start in _word_starts(before):
            if leads := _IN.search(question[:start]):
                yield Wish(leads.start(), match.end(), "collection", _spellings(before[start:]))
    for match in _COLLECTION_NAMED.finditer(question):
        yield Wish(match.start(), match.end(), "collection", _spellings(match["name"]))


def _word_starts(text: str) -> list[int]:
    """Where the last words of a text begin, the longest run of them first; a quoted name counts as one."""
    if quoted := re.search(rf"(?:{_NAME.removesuffix(')').removesuffix(_WORD).removesuffix('|')}))$", text):
        return [quoted.start()]
    starts = [match.start() for match in re.finditer(_WORD, text)][-_MOST_WORDS:]
    return starts if starts and re.search(rf"{_WORD}$", text) else []


def _spellings(name: str) -> tuple[tuple[str, SearchFilter], ...]:
    """A collection's name as it may be spelled."""
    words = _unquoted(name).split()
    joined = [joint.join(words) for joint in ("-", "_", " ", "")]
    cased = [case(spelled) for case in (str.lower, str.title, str.upper) for spelled in joined]
    names = dict.fromkeys([" ".join(words), *joined, *cased])
    return tuple((f"collection={spelled}", SearchFilter(collections=(spelled,))) for spelled in names)


def _tags(question: str) -> Iterator[Wish]:
    for match in _TAGGED.finditer(question):
        key, value = match["key"], _unquoted(match["value"])
        keys = dict.fromkeys((key, key.lower())) if key else dict.fromkeys(TAG_KEYS)
        pairs = tuple((name, spelled) for name in keys for spelled in dict.fromkeys((value, value.lower())))
        yield Wish(
            match.start(), match.end(), "metadata", ((f"{key or 'tag'}={value}", SearchFilter(any_of=(pairs,))),)
        )


def _authors(question: str) -> Iterator[Wish]:
    for match in _WRITTEN_BY.finditer(question):
        ends = [word.end() for word in re.finditer(_WORD, question[match.end() :])][:_MOST_WORDS]
        for end in reversed(ends):
            name = " ".join(question[match.end() : match.end() + end].rstrip(".").split())
            pairs = tuple((key, spelled) for key in AUTHOR_KEYS for spelled in dict.fromkeys((name, name.title())))
            reading = (f"author={name}", SearchFilter(any_of=(pairs,)))
            yield Wish(match.start(), match.end() + end, "metadata", (reading,))


def _years(question: str) -> Iterator[Wish]:
    for pattern in _YEARS:
        for match in pattern.finditer(question):
            found = {name: int(year) for name, year in match.groupdict().items()}
            name, first, last = _range(found)
            pairs = tuple((DATE_YEAR, str(year)) for year in range(max(first, FIRST_YEAR), min(last, LAST_YEAR) + 1))
            if pairs:
                yield Wish(match.start(), match.end(), "year", ((name, SearchFilter(any_of=(pairs,))),))


def _range(found: dict[str, int]) -> tuple[str, int, int]:
    """What to call a range of years, its first and its last one."""
    match found:
        case {"only": year}:
            return f"year={year}", year, year
        case {"first": first, "last": last}:
            return f"year={first}..{last}", first, last
        case {"first": first}:
            return f"year>={first}", first, LAST_YEAR
        case {"after": after}:
            return f"year>{after}", after + 1, LAST_YEAR
        case _:
            return f"year<{found['before']}", FIRST_YEAR, found["before"] - 1


def _file_types(question: str) -> Iterator[Wish]:
    for match in _FILES.finditer(question):
        word = (match["type"] or match["alone"].removesuffix("s")).lower()
        if word not in _SUBJECTS or match["search"]:
            pairs = tuple((FILE_TYPE, ending) for ending in _ENDINGS[word])
            reading = (f"{FILE_TYPE}={word}", SearchFilter(any_of=(pairs,)))
            yield Wish(match.start(), match.end(), "file_type", (reading,))


def _languages(question: str) -> Iterator[Wish]:
    for match in _LANGUAGE.finditer(question):
        code = _LANGUAGES[(match["before"] or match["behind"]).lower()]
        yield Wish(
            match.start(), match.end(), "language", ((f"language={code}", SearchFilter(metadata={"language": code})),)
        )


def _unquoted(text: str) -> str:
    return text[1:-1].strip() if text[0] in "\"'" else text.rstrip(".-/")
