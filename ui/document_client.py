"""Calls of the API about one document's inside and about collections."""

from __future__ import annotations

from app.ledger_schema import CollectionCreate, CollectionDeleted, StageList
from app.page_schema import PagePlace
from app.schema import ChunkList, CollectionInfo, DocumentText
from ingestion.types import StageRecord
from ui.api_http import HttpApi, segment


class DocumentCalls:
    """Text, chunks, stages and pages of documents; collections. Errors as of ``HttpApi``."""

    def __init__(self, http: HttpApi) -> None:
        self._http = http

    def text(self, document_id: str) -> str:
        """The stored text of a document."""
        return self._http.get(f"/api/documents/{segment(document_id)}/text", DocumentText).text

    def chunks(self, document_id: str) -> ChunkList:
        """The chunks of a document with their offsets into its text."""
        return self._http.get(f"/api/documents/{segment(document_id)}/chunks", ChunkList)

    def stages(self, document_id: str) -> list[StageRecord]:
        """The stages that the latest attempt came to, in order."""
        return self._http.get(f"/api/documents/{segment(document_id)}/stages", StageList).stages

    def page_picture(self, document_id: str, page: int, *, width: int) -> bytes:
        """A page of a PDF as PNG; ``ApiRefused`` with the status 404 where there is none to draw."""
        return self._http.get_bytes(f"/api/documents/{segment(document_id)}/pages/{page}.png", query={"width": width})

    def page_place(self, document_id: str, page: int, chunk_id: str) -> PagePlace:
        """Where a chunk stands on a page."""
        path = f"/api/documents/{segment(document_id)}/pages/{page}/place"
        return self._http.get(path, PagePlace, query={"chunk_id": chunk_id})

    def describe_collection(self, name: str, description: str) -> CollectionInfo:
        """Create a collection, or describe one that is there."""
        body = CollectionCreate(name=name, description=description)
        return self._http.send("POST", "/api/collections", CollectionInfo, body=body)

    def delete_collection(self, name: str) -> CollectionDeleted:
        """Delete a collection with all its documents."""
        return self._http.send("DELETE", f"/api/collections/{segment(name)}", CollectionDeleted)
