"""What earlier ingests have left, as one ingest compares it: unchanged, moved, no longer inside. Reads no bytes."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence

from ingestion.records import Content, KnownDocument
from ingestion.sources import identity_of

CHILD_MARK = "!/"
"""Stands between the source of a holder and the name of a file inside."""


class History:
    """The documents of one collection before an ingest."""

    def __init__(
        self, known: Mapping[str, KnownDocument], *, lost: Collection[str] = (), found: Collection[str] = ()
    ) -> None:
        """Take in what is known.

        Args:
            known: Documents by id.
            lost: Ids of documents whose chunks are not all in the store.
            found: Sources of this ingest: none of them can have moved away.
        """
        self._known = known
        self._lost = frozenset(lost)
        self._found = frozenset(found)
        self._inside: dict[str, list[str]] = defaultdict(list)
        self._by_hash: dict[str, list[KnownDocument]] = defaultdict(list)
        self._taken: set[str] = set()
        for document_id, document in known.items():
            if document.identity.parent_id is not None:
                self._inside[document.identity.parent_id].append(document_id)
            if document.status in ("ready", "container"):
                self._by_hash[document.content.sha256].append(document)

    def get(self, document_id: str) -> KnownDocument | None:
        """What is known of a document."""
        return self._known.get(document_id)

    def top_level(self) -> list[KnownDocument]:
        """Documents that are no file inside another one."""
        return [document for document in self._known.values() if document.identity.parent_id is None]

    def indexed_content(self, document_id: str) -> Content | None:
        """What was indexed of a document, if it is whole in ledger and store; files inside do not count."""
        document = self._known.get(document_id)
        if document is None or document.status not in ("ready", "container") or document_id in self._lost:
            return None
        return document.content

    def is_whole(self, document_id: str) -> bool:
        """Whether a document and all files inside, at any depth, are in."""
        document, inside = self._known[document_id], self._inside[document_id]
        return (
            self.indexed_content(document_id) is not None
            and document.children == len(inside)
            and all(self.is_whole(child) for child in inside)
        )

    def descendants(self, document_id: str) -> list[KnownDocument]:
        """Documents of the files inside, at any depth."""
        found: list[KnownDocument] = []
        for child in self._inside[document_id]:
            found += [self._known[child], *self.descendants(child)]
        return found

    def gone_from(self, document_id: str, inside: Collection[str]) -> list[str]:
        """Ids of documents that were inside and are not among these, with what they held."""
        gone = [child for child in self._inside[document_id] if child not in inside]
        return [key for child in gone for key in (child, *self._ids_inside(child))]

    def take_moved(self, content: Content) -> KnownDocument | None:
        """A document of the same bytes whose file is gone: it has moved. Each is given once."""
        for document in self._by_hash[content.sha256]:
            identity = document.identity
            if (
                identity.parent_id is None
                and identity.document_id not in self._taken
                and identity.source not in self._found
                and identity.source.startswith("/")
                and not os.path.lexists(identity.source)
            ):
                self._taken.add(identity.document_id)
                return document
        return None

    def moved_inside(self, holder_before: str, name: str, content: Content) -> KnownDocument | None:
        """The same file inside a holder before that moved."""
        before = self._known[holder_before].identity
        child = self._known.get(identity_of(f"{before.source}{CHILD_MARK}{name}", before.collection).document_id)
        return child if child is not None and child.content.sha256 == content.sha256 else None

    def all_of(self, document_id: str) -> list[str]:
        """Id of a document and of all files inside."""
        return [document_id, *self._ids_inside(document_id)]

    def alike(self, document_id: str, content: Content) -> Sequence[str]:
        """Ids of documents whose chunks may be those of a document with this content: its own, and one of its bytes."""
        same = [document.identity.document_id for document in self._by_hash[content.sha256][:1]]
        return tuple(dict.fromkeys([*([document_id] if document_id in self._known else []), *same]))

    def _ids_inside(self, document_id: str) -> list[str]:
        return [document.identity.document_id for document in self.descendants(document_id)]
